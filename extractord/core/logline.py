"""An event as one line for a log, logfmt or JSON: ids and counts, never a transcript's text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

from extractord.core.events import Event, Heeded, Oversized, RunFinished, Skipped, SourceFound, Unheeded
from extractord.core.ports import RunRow

Fields = dict[str, str | int | float]


def logline(event: Event | str, now: datetime) -> str:
    """Given an event, or a sentence for a person, and when it is said, return its line in logfmt."""
    return " ".join(f"{key}={_value(_shown(value))}" for key, value in _fields(event, now).items())


def jsonline(event: Event | str, now: datetime) -> str:
    """The same as a JSON object in ASCII, on one line."""
    return json.dumps(_fields(event, now))


def _fields(event: Event | str, now: datetime) -> Fields:
    time: Fields = {"time": now.isoformat(timespec="milliseconds")}
    if isinstance(event, str):
        return time | _plain({"msg": event})
    return time | {"event": str(event.__struct_config__.tag)} | _plain(_told(event))


def _told(event: Event) -> Fields:
    match event:
        case Skipped():
            return {
                "agent": event.agent,
                "session": event.session,
                "exchange": event.exchange,
                "reason": event.reason,
            }
        case RunFinished(row=row, person=person, audit=audit):
            return {"person": person} | _run(row) | {"audit": audit}
        case SourceFound():
            return {"agent": event.agent, "root": event.root, "transcripts": event.transcripts}
        case Oversized():
            return {"agent": event.agent, "path": event.path, "lines": event.lines, "bytes": event.bytes}
        case Heeded():
            return {"word": event.word, "done": str(event.done), "reason": event.reason}
        case Unheeded():
            return {"messages": event.messages, "reason": event.reason}
        case _:
            assert_never(event)


def _run(row: RunRow) -> Fields:
    return {
        "run": row.run,
        "agent": row.agent,
        "session": row.session,
        "project": row.project,
        "model": row.model,
        "outcome": row.outcome,
        "reason": row.reason,
        "written": len(row.written),
        "removed": len(row.removed),
        "held": len(row.held),
        "denied": row.denied,
        "requests": row.requests,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "dollars": row.dollars,
        "ms": row.ms,
    }


def _plain(fields: Mapping[str, str | float]) -> Fields:
    """Without what is empty, and in characters that can be written."""
    return {
        key: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for key, value in fields.items()
        if value != ""
    }


def _shown(value: str | float) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _value(text: str) -> str:
    """Quoted where it has to be, and always one line: what a file is called is a stranger's word too."""
    if text and all(character.isprintable() and character not in ' "=\\' for character in text):
        return text
    escaped = "".join(
        "\\" + character
        if character in '"\\'
        else character
        if character.isprintable()
        else f"\\u{ord(character):04x}"
        for character in text
    )
    return f'"{escaped}"'
