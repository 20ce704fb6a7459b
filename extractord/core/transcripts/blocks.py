"""Messages made of blocks, as Anthropic's API shapes them and many agents record them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from extractord.core.records import Entry, Origin, Role
from extractord.core.transcripts.commontools import has_failed
from extractord.core.transcripts.speech import Speech

REMINDER = re.compile(r"<system-reminder>(?:.*</system-reminder>|.*)", re.DOTALL)
"""To its last end mark: what it shows of a file may hold one too."""
_ASKS = frozenset({"tool_use", "tool_call", "tool-call", "toolCall"})
_ANSWERS = frozenset({"tool_result", "tool-result", "toolResult"})
_ENDED = frozenset({"error", "cancelled", "canceled", "rejected", "rejected-by-user", "denied"})
"""How a run of Amp's ends where it was not done; others go on."""
_DEPTH = 6


class Run(Struct):
    """How a call of Amp's ended."""

    status: str | None = None
    result: Any = None
    error: Any = None


class Block(Struct):
    """One part of a message, whichever kind."""

    type: str = ""
    text: str | None = None
    hidden: Any = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    toolUseID: str | None = None  # noqa: N815 - the record's own name
    toolUseId: str | None = None  # noqa: N815
    toolCallId: str | None = None  # noqa: N815
    toolName: str | None = None  # noqa: N815
    output: Any = None
    content: Any = None
    is_error: Any = None
    summary: Any = None
    run: Run | None = None


Content = str | list[Block] | None


def blocks_of(content: Content) -> list[Block]:
    """Given a content in any of its forms, return its blocks."""
    return [Block(type="text", text=content)] if isinstance(content, str) else content or []


def text_of(content: Content) -> str:
    """Given a content, return its text, without thoughts, calls and results."""
    return "\n".join(block.text for block in blocks_of(content) if block.type == "text" and block.text)


def shown_in(result: object, depth: int = _DEPTH) -> str:
    """Given a tool's result (a text, blocks, an object), return its text, as deep as agents nest it."""
    match result:
        case str():
            return result
        case _ if depth == 0:
            return ""
        case list():
            return "\n".join(filter(None, (shown_in(each, depth - 1) for each in result)))
        case dict():
            shown = (shown_in(result.get(key), depth - 1) for key in ("text", "output", "content", "error"))
            return next(filter(None, shown), "")
        case _:
            return ""


def answered_by(block: Block) -> str | None:
    """Given a result, return the id of the call that it answers, or None."""
    return block.tool_use_id or block.toolUseID or block.toolUseId or block.toolCallId


def given_in(block: Block) -> str:
    """Given a result, return what it shows; the AI SDK has it as the value of an output."""
    output = block.output.get("value") if isinstance(block.output, dict) else block.output
    return shown_in(block.content) or shown_in(output) or shown_in(block.output)


def said_in(
    speech: Speech,
    role: str,
    content: Content,
    entry: Entry,
    wrappers: re.Pattern[str] | None = None,
    said: str | None = None,
) -> Iterator[Entry]:
    """Given a message and an entry with its id, text and time, yield what was said, and what tools did."""
    blocks = blocks_of(content)
    for nth, block in enumerate(blocks):
        if block.type in _ANSWERS:
            call = answered_by(block) or f"{entry.id}/{nth}"
            shown, ok = _outcome(block)
            name = block.name or block.toolName or ""
            yield from speech.result(call, shown, ok=ok, time=entry.time, name=name)
    if role == "assistant":
        asked = [block for block in blocks if block.type in _ASKS]
        yield from speech.answered(
            entry,
            (
                speech.call(
                    block.id or block.toolCallId or f"{entry.id}/{nth}",
                    block.name or block.toolName or "",
                    block.input,
                )
                for nth, block in enumerate(asked)
            ),
        )
    elif entry.text.strip():
        yield from speech.prompted(entry, wrappers, said)


def _outcome(block: Block) -> tuple[str, bool | None]:
    """What a call gave, and whether it was done; None while it is not known."""
    if block.run is not None:
        shown = shown_in(block.run.result) or shown_in(block.run.error)
        if block.run.status == "done":
            return shown, not _says_no(block.run.result)
        return shown, False if block.run.status in _ENDED else None
    shown = given_in(block)
    return shown, not (has_failed(shown) if block.is_error is None else block.is_error)


def _says_no(result: object) -> bool:
    """True for a result that is an object and says itself that nothing was done."""
    if not isinstance(result, dict):
        return False
    code = result.get("exitCode")
    return result.get("success") is False or (isinstance(code, int) and code != 0)


def opening(speech: Speech, role: str, text: str, ident: str | None = None, time: object = None) -> Entry:
    """An entry for a message: a person's where it is a user's, else the agent's."""
    if role == "user":
        return speech.entry(Role.USER, Origin.HUMAN, text, ident, time)
    return speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, time)
