"""Codex: where its rollouts are, plain, compressed or archived, and which are of one thread."""

from __future__ import annotations

import re

from extractord.core.ports import Deferring, Reader
from extractord.core.transcripts.codex_deferring import CodexDeferring, thaw
from extractord.core.transcripts.codex_entries import AGENT
from extractord.core.transcripts.codex_legacy import CodexDocument
from extractord.core.transcripts.codex_thread import THREAD, CodexThread
from extractord.core.transcripts.source import Container, Later, Opened, Source, Surroundings

_ROLLOUT = re.compile(r"(?:^|/)rollout-[^/]*\.(?:jsonl|jsonl\.zst|json)$")
_META = re.compile(rb'"type"\s*:\s*"session_meta"')
_OLD_META = re.compile(rb'\{\s*"id"\s*:\s*"[^"]+",\s*"timestamp"\s*:\s*"[^"]+",\s*"instructions"\s*:')


def home_of(around: Surroundings) -> str:
    """Where its own files are."""
    return (around.env.get("CODEX_HOME") or f"{around.home}/.codex").rstrip("/")


def _roots(around: Surroundings) -> tuple[str, ...]:
    home = home_of(around)
    return (f"{home}/sessions", f"{home}/archived_sessions")


def _container(path: str) -> Container:
    return Container.DOCUMENT if path.endswith(".json") else Container.LINES


def _family(name: str) -> str | None:
    """A thread's files, its segments after rewinds, in the order of their names."""
    named = THREAD.match(name)
    return f"rollout-*-{named[1]}*.jsonl*" if named else None


def _claims(path: str, head: bytes) -> bool:
    """True for a rollout's name, or where the first line begins a session as Codex does."""
    first = head.lstrip(b"\xef\xbb\xbf\0\r\n\t ").partition(b"\n")[0]
    begins = _META.search(first) is not None and b'"payload"' in first  # Hermes has such a line without
    begins = begins or _OLD_META.match(first) is not None
    return bool(begins or _ROLLOUT.search(path.replace("\\", "/")))


def _reader(opened: Opened) -> Reader:
    return (CodexDocument if _container(opened.path) is Container.DOCUMENT else CodexThread)(opened.path)


def _deferring(opened: Opened) -> Deferring | None:
    return None if _container(opened.path) is Container.DOCUMENT else CodexDeferring(opened.path)


SOURCE = Source(
    agent=AGENT,
    roots=_roots,
    belongs=lambda path: bool(_ROLLOUT.search(path)),
    container=_container,
    claims=_claims,
    reader=_reader,
    family=_family,
    later=Later(_deferring, thaw),
    seen="0.20.0 to 0.200.19",
)
