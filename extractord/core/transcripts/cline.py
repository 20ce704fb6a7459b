"""Cline and Roo Code: where their tasks are, and the sessions that Cline's SDK keeps since."""

from __future__ import annotations

import re

from extractord.core.transcripts.cline_sdk import ENDING, MANIFEST, ClineSessionReader
from extractord.core.transcripts.cline_tasks import ITEM, METADATA, SENT, SHOWN, ClineReader
from extractord.core.transcripts.source import Container, Source, Surroundings, editors


def _cline_roots(around: Surroundings) -> tuple[str, ...]:
    """`tasks` of the extension in each editor; `tasks` and `sessions` in its own folder."""
    base = around.env.get("CLINE_DIR") or f"{around.home}/.cline"
    own = around.env.get("CLINE_DATA_DIR") or f"{base}/data"
    sessions = around.env.get("CLINE_SESSION_DATA_DIR") or f"{own}/sessions"
    tasks = (f"{each}/saoudrizwan.claude-dev/tasks" for each in editors(around))
    return (*tasks, f"{own}/tasks", sessions)


def _roo_roots(around: Surroundings) -> tuple[str, ...]:
    """`tasks` of Roo Code, and of Kilo Code before it changed its format, in each editor."""
    extensions = ("rooveterinaryinc.roo-cline", "kilocode.kilo-code")
    return tuple(f"{each}/{extension}/tasks" for each in editors(around) for extension in extensions)


_BELONGS = re.compile(rf"[^/]+/{re.escape(SENT)}")
_SESSION = re.compile(rf"[^/]+/[^/]+{re.escape(ENDING)}")
_ROO = re.compile(r"roo-cline|kilo-code|/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/[^/]+\Z")


def _is_task(path: str, head: bytes) -> bool:
    begin = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    versioned = begin.startswith(b"{") and b'"messages"' in begin and path.endswith(f"/{SENT}")
    return path.endswith((f"/{SENT}", f"/{SHOWN}")) and (begin.startswith(b"[") or versioned)


def _is_session(path: str, head: bytes) -> bool:
    begins = head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1]
    return path.endswith(ENDING) and begins in (b"{", b"[") and b'"role"' in head


CLINE = Source(
    agent="cline",
    roots=_cline_roots,
    belongs=lambda path: (_BELONGS.fullmatch(path) or _SESSION.fullmatch(path)) is not None,
    container=lambda _path: Container.DOCUMENT,
    claims=lambda path, head: (_is_task(path, head) and _ROO.search(path) is None) or _is_session(path, head),
    reader=lambda opened: (
        ClineSessionReader(opened) if opened.path.endswith(ENDING) else ClineReader(opened, "cline")
    ),
    beside=(SHOWN, METADATA, MANIFEST),
    writes_turn_end=False,
    seen="3.66.0, and records that name none",
)
ROO = Source(
    agent="roo",
    roots=_roo_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda _path: Container.DOCUMENT,
    claims=lambda path, head: _is_task(path, head) and _ROO.search(path) is not None,
    reader=lambda opened: ClineReader(opened, "roo"),
    beside=(SHOWN, ITEM),
    writes_turn_end=False,
    seen="records name none; message version 2",
)
