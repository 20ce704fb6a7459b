"""Kilo since it became a fork of opencode: the same tables in a database of its own."""

from __future__ import annotations

import re

from extractord.core.transcripts.opencode_rows import ROWS, TREE
from extractord.core.transcripts.opencode_session import OpencodeReader
from extractord.core.transcripts.source import Container, Source, Surroundings

_BELONGS = re.compile(r"[^/]+\.db|storage/session/[^/]+/[^/]+\.json")


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`kilo` in `XDG_DATA_HOME`, on every platform, and the folder of `KILO_DB`."""
    base = around.env.get("XDG_DATA_HOME") or f"{around.home}/.local/share"
    own = around.env.get("KILO_DB", "").rpartition("/")[0]
    return tuple(dict.fromkeys((f"{base}/kilo", *([own] if own.startswith("/") else []))))


def _claims(path: str, head: bytes) -> bool:
    """True for a database of this name, or a session's file in its folder."""
    if head.startswith(b"SQLite format 3\0"):
        return path.rpartition("/")[2].startswith("kilo")
    return "/kilo/storage/session/" in path and b'"projectID"' in head


SOURCE = Source(
    agent="kilo",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda path: Container.DOCUMENT if path.endswith(".json") else Container.ROWS,
    claims=_claims,
    reader=lambda opened: OpencodeReader(opened, "kilo"),
    rows=ROWS,
    tree=TREE,
    gaps="before it became a fork of opencode, its tasks are read as Roo Code's",
    seen="7.7.7",
)
