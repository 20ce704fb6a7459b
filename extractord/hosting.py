"""What the model host does: it reads its key, gives up its rights, and answers."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import certifi
import msgspec

from extractord.core.wire import Provider
from extractord.edges.confine import confine_host, hide_memory
from extractord.edges.confine.trial import is_enough, what_host_can
from extractord.edges.modelhost import serve

_READ_ON_THE_WAY = (
    "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf",
    "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/localtime", "/usr/share/zoneinfo",
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/run/systemd/resolve", "/dev/urandom", "/dev/null",
)  # fmt: skip
"""What name resolution, TLS and late imports open."""


def host(provider: str, confinement: str) -> None:
    """Given the provider as JSON, answer on standard input and output until that is closed.

    Exit with what is wrong, on standard error, where it is `required` and cannot be had.
    """
    hide_memory()
    tempfile.tempdir = "/"  # litellm asks for it on import, and is given nothing that can be written
    from extractord.edges.provider import LiteLLM  # noqa: PLC0415 - not before that

    model = LiteLLM(msgspec.json.decode(provider, type=Provider))
    if confinement != "off":
        level = confine_host(_readable())
        could = what_host_can()
        if confinement == "required" and not is_enough(level, could):
            sys.exit(
                f"the model host cannot be confined here (reached: {level}; it could: {', '.join(could)}): "
                'set confinement = "best-effort" to run all the same'
            )
    serve(model.answer)


def _readable() -> Iterator[Path]:
    yield from map(Path, (sys.prefix, sys.base_prefix, *sys.path, certifi.where(), *_READ_ON_THE_WAY))
