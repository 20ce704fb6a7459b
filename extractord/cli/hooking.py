"""What an agent's own hook is answered: once a session, and never an error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

_ASKED_EACH_PROMPT = frozenset({"qwen-code"})
"""Agents that take nothing from a hook at the session's start."""


class _Asked(Struct):
    """What a hook is told on its standard input, as far as it matters here."""

    transcript_path: str = ""


class _Record(Struct):
    type: str = ""


_ASKED = msgspec.json.Decoder(_Asked)
_RECORD = msgspec.json.Decoder(_Record)


def answer(agent: str, told: Callable[[], str]) -> None:
    """Print what an agent's hook is to be told, unless its session was told before.

    Nothing that goes wrong is the agent's concern: it is a line on standard error.
    """
    try:
        text = "" if agent in _ASKED_EACH_PROMPT and _had_prompts() else told()
    except Exception as error:  # noqa: BLE001 - whatever it is, the agent goes on without
        print(f"extractord: no memories this time: {' '.join(str(error).split())}", file=sys.stderr)
        return
    sys.stdout.write(text)


def _had_prompts() -> bool:
    """True where the session that asks has had a prompt before this one."""
    transcript = _ASKED.decode(sys.stdin.buffer.read()).transcript_path
    try:
        with Path(transcript).open("rb") as lines:
            return any(_type_of(line) == "user" for line in lines)
    except OSError:
        return False


def _type_of(line: bytes) -> str:
    try:
        return _RECORD.decode(line).type
    except msgspec.MsgspecError:
        return ""
