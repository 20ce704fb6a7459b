"""How opencode's tables are asked, and what stands in the JSON of their rows."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Rows, Tree
from extractord.core.transcripts.toolcalls import Takes

TOOLS = {
    "read": Takes("read", ("filePath", "path")),
    "grep": Takes("read", ("path",)),
    "glob": Takes("read", ("path",)),
    "list": Takes("read", ("path",)),
    "write": Takes("write", ("filePath", "path")),
    "edit": Takes("write", ("filePath", "path")),
    "multiedit": Takes("write", ("filePath", "path")),
    "patch": Takes("patch", ("patchText",)),
    "apply_patch": Takes("patch", ("patchText",)),
    "bash": Takes("shell", ("command",), ("workdir", "cwd")),
}

ROWS = Rows(
    touched="""
        SELECT session.id, max(session.time_updated, coalesce(newest.at, 0)) AS at
        FROM session LEFT JOIN (
            SELECT session_id, max(time_updated) AS at FROM message
            WHERE time_updated >= :since GROUP BY session_id
        ) AS newest ON newest.session_id = session.id
        WHERE session.time_archived IS NULL AND max(session.time_updated, coalesce(newest.at, 0)) >= :since
        ORDER BY at
    """,
    records="""
        SELECT 'session' AS kind, id, parent_id, directory, version, revert, time_updated,
            (SELECT json_group_array(message.id) FROM message WHERE session_id = session.id) AS data,
            NULL AS parts
        FROM session WHERE id = :session AND time_archived IS NULL
        UNION ALL
        SELECT * FROM (
            SELECT 'message', message.id, NULL, NULL, NULL, NULL,
                max(message.time_updated,
                    coalesce((SELECT max(time_updated) FROM part WHERE message_id = message.id), 0)),
                CAST(message.data AS TEXT),
                (SELECT json_group_array(json_object('id', id, 'data', data)) FROM (
                    SELECT id, CAST(data AS TEXT) AS data FROM part
                    WHERE message_id = message.id ORDER BY id))
            FROM message JOIN session ON session.id = message.session_id
            WHERE message.session_id = :session AND session.time_archived IS NULL
            ORDER BY message.id
        )
    """,
)
"""A session's row with the ids of its messages, then each message with its parts; ids sort by time."""


TREE = Tree(messages="../../message/{id}/*.json", parts="../../part/{id}/*.json")
"""Before there was a database, a session was a file, and so was each message and part."""


class Row(Struct):
    """A row as it is fed: a session, with the ids of its messages as `data`, or a message with its parts."""

    kind: str = ""
    id: str = ""
    parent_id: str | None = None
    directory: str | None = None
    version: str | None = None
    revert: str | None = None
    time_updated: Any = None
    data: str | None = None
    parts: str | None = None


class Revert(Struct):
    """From which message, or part of it, on a session was taken back."""

    messageID: str = ""  # noqa: N815 - the record's own name
    partID: str | None = None  # noqa: N815


class SessionFile(Struct):
    """What stands in a session's own file."""

    parentID: str | None = None  # noqa: N815
    directory: str | None = None
    version: str | None = None
    revert: Revert | None = None


class PartRow(Struct):
    """A part, its own JSON still text."""

    id: str = ""
    data: str = ""


class Message(Struct):
    """What stands in a message's JSON."""

    role: str = ""
    time: Any = None
    path: Any = None
    finish: str | None = None
    error: Any = None
    summary: Any = None
    parentID: str | None = None  # noqa: N815


class State(Struct):
    """How far a tool call is."""

    status: str | None = None
    input: Any = None
    output: Any = None
    error: Any = None
    metadata: Any = None
    time: Any = None


class Part(Struct):
    """What stands in a part's JSON; `id` is the row's."""

    id: str = ""
    type: str = ""
    text: str | None = None
    synthetic: Any = None
    ignored: Any = None
    tool: str | None = None
    callID: str | None = None  # noqa: N815
    state: State = field(default_factory=State)
    reason: str | None = None


_ID = re.compile(r"(?:ses|msg)_([0-9a-f]{12})[0-9A-Za-z]{14}")
_MILLISECONDS = 1 << 36
"""So many can an id tell apart, two years of them; those of sessions count down."""


def made_later(session: str, message: str, time: datetime) -> bool:
    """True if both ids were made a second or more after the time at which the message says it was."""
    began, made = _ID.fullmatch(session), _ID.fullmatch(message)
    if began is None or made is None:
        return False
    at = int(time.timestamp() * 1000)
    ages = ((~int(began[1], 16) >> 12) - at, (int(made[1], 16) >> 12) - at)
    return all(1000 <= age % _MILLISECONDS < _MILLISECONDS // 2 for age in ages)  # noqa: PLR2004 - a second


ROW = decoder(Row)
IDS = decoder(list[str])
PARTS = decoder(list[PartRow])
REVERT = decoder(Revert)
MESSAGE = decoder(Message)
PART = decoder(Part)
ROW_LIST = decoder(list[Row])
SESSION_FILE = decoder(SessionFile)
