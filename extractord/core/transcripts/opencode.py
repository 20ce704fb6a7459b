"""opencode: where its database and its old tree are, and how to know them."""

from __future__ import annotations

import re

from extractord.core.transcripts.opencode_rows import ROWS, TREE
from extractord.core.transcripts.opencode_session import AGENT, OpencodeReader
from extractord.core.transcripts.source import Container, Source, Surroundings

__all__ = ["AGENT", "SOURCE"]


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`opencode` in `XDG_DATA_HOME`, on every platform, and the folder of `OPENCODE_DB`."""
    base = around.env.get("XDG_DATA_HOME") or f"{around.home}/.local/share"
    own = around.env.get("OPENCODE_DB", "").rpartition("/")[0]
    return tuple(dict.fromkeys((f"{base}/opencode", *([own] if own.startswith("/") else []))))


_BELONGS = re.compile(r"[^/]+\.db|storage/session/[^/]+/[^/]+\.json")


_EXPORT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"info":\s*\{\s*"id":\s*"ses_')


def _claims(path: str, head: bytes) -> bool:
    """True for a database of this name, a session's file in its old tree, or an export of one."""
    if head.startswith(b"SQLite format 3\0"):
        return "opencode" in path.rpartition("/")[2]
    if _EXPORT.match(head) and b'"messages"' in head:
        return path.endswith(".json")
    return "/storage/session/" in path and b'"projectID"' in head


SOURCE = Source(
    agent=AGENT,
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda path: Container.DOCUMENT if path.endswith(".json") else Container.ROWS,
    claims=_claims,
    reader=OpencodeReader,
    rows=ROWS,
    tree=TREE,
    seen="1.2.1 to 1.18.33",
)
