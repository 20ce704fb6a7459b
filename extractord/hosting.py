"""What the model host does: it reads its key, gives up its rights, and answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import certifi
import msgspec

from extractord.core.wire import Provider
from extractord.edges.confine import confine_host, end_with_parent
from extractord.edges.modelhost import serve
from extractord.edges.provider import LiteLLM

_READ_ON_THE_WAY = (
    "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf",
    "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/localtime", "/usr/share/zoneinfo",
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/run/systemd/resolve", "/dev/urandom", "/dev/null",
)  # fmt: skip
"""What name resolution, TLS and late imports open."""


def host(provider: str, *, confined: bool) -> None:
    """Given the provider as JSON, answer on standard input and output until that is closed."""
    end_with_parent()
    model = LiteLLM(msgspec.json.decode(provider, type=Provider))
    if confined:
        confine_host(_readable())
    serve(model.answer)


def _readable() -> Iterator[Path]:
    yield from map(Path, (sys.prefix, sys.base_prefix, *sys.path, certifi.where(), *_READ_ON_THE_WAY))
