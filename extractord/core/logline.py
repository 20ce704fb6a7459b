"""An event as one line for a log: logfmt, ids and counts, never a transcript's text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import assert_never

from extractord.core.events import Event, Oversized, RunFinished, Skipped, SourceFound
from extractord.core.ports import RunRow


def logline(event: Event | str) -> str:
    """Given an event, or a sentence for a person, return its line without time and newline."""
    pairs: Iterator[str]
    match event:
        case str():
            return f"msg={_value(event)}"
        case Skipped():
            pairs = _pairs(
                agent=event.agent, session=event.session, exchange=event.exchange, reason=event.reason
            )
        case RunFinished(row=row, audit=audit):
            pairs = chain(_run(row), _pairs(audit=audit))
        case SourceFound():
            pairs = _pairs(agent=event.agent, root=event.root, transcripts=event.transcripts)
        case Oversized():
            pairs = _pairs(agent=event.agent, path=event.path, lines=event.lines, bytes=event.bytes)
        case _:
            assert_never(event)
    return " ".join([f"event={event.__struct_config__.tag}", *pairs])


def _run(row: RunRow) -> Iterator[str]:
    yield from _pairs(
        run=row.run,
        agent=row.agent,
        session=row.session,
        project=row.project,
        model=row.model,
        outcome=row.outcome,
        reason=row.reason,
        written=len(row.written),
        removed=len(row.removed),
        held=len(row.held),
        denied=row.denied,
        requests=row.requests,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        dollars=f"{row.dollars:.4f}",
        ms=row.ms,
    )


def _pairs(**values: object) -> Iterator[str]:
    for key, value in values.items():
        if value != "":
            yield f"{key}={_value(str(value))}"


def _value(text: str) -> str:
    """Quoted where it has to be, and always one line: what a file is called is a stranger's word too."""
    plain = text.encode("utf-8", "replace").decode()
    if plain and all(character.isprintable() and character not in ' "=\\' for character in plain):
        return plain
    escaped = "".join(
        "\\" + character
        if character in '"\\'
        else character
        if character.isprintable()
        else f"\\u{ord(character):04x}"
        for character in plain
    )
    return f'"{escaped}"'
