"""What the model host does: it reads its key, gives up its rights, and answers."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import certifi
import msgspec

from extractord.core.wire import Ask, Provider, Said, Unanswered
from extractord.edges.confine import confine_host, hide_memory
from extractord.edges.confine.trial import is_enough, not_enough, what_host_can
from extractord.edges.modelhost import serve
from extractord.errors import ConfigError

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

    try:
        answer = LiteLLM(msgspec.json.decode(provider, type=Provider)).answer
    except ConfigError as error:
        answer = partial(_unable, str(error))
    if confinement != "off":
        level = confine_host(_readable())
        could = what_host_can()
        if confinement == "required" and not is_enough(level, could):
            sys.exit(not_enough("the model host", level, could))
    serve(answer)


async def _unable(reason: str, ask: Ask) -> Said:
    """What is wrong with the key: a person's to mend, so that it waits and counts as no attempt."""
    return Unanswered(id=ask.id, fault="auth", message=reason)


def _readable() -> Iterator[Path]:
    yield from map(Path, (sys.prefix, sys.base_prefix, *sys.path, certifi.where(), *_READ_ON_THE_WAY))
