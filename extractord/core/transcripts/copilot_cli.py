"""Copilot CLI: JSONL events, from which a rewind deletes; sub-agents write into the same file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall
from extractord.core.transcripts.copilot_history import CopilotHistoryReader
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import instant, shortened
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings
from extractord.core.transcripts.telling import Told, decoded, pieces, result_origin
from extractord.core.transcripts.toolcalls import Takes, tool_call

_SHELL = Takes("shell", ("command",), ("cwd",))
_TOOLS = {
    "view": Takes("read", ("path",)),
    "grep": Takes("read", ("path",)),
    "glob": Takes("read", ("path",)),
    "create": Takes("write", ("path",)),
    "edit": Takes("write", ("path",)),
    "str_replace_editor": Takes("write", ("path",)),
    "apply_patch": Takes("patch", ("patch", "input")),
    "bash": _SHELL,
    "shell": _SHELL,
}
_EXIT = re.compile(r"<shellId: \S+ completed with exit code (-?\d+)>\s*\Z")
_SILENT = re.compile(
    r"assistant\.(?:turn_start|turn_end|reasoning)|system\.message|hook\..*|permission\..*|subagent\..*"
    r"|tool\.(?:execution_start|execution_partial_result|user_requested)"
    r"|session\.(?!start$|resume$|error$|compaction_complete$|context_changed$).*"
)


class _Request(Struct):
    toolCallId: str | None = None  # noqa: N815 - the record's own name
    name: str | None = None
    arguments: Any = None


class _Place(Struct):
    cwd: str | None = None
    branch: str | None = None


class _Result(Struct):
    content: str | None = None


class _Body(Struct):
    """What an event's `data` holds, whichever event it is."""

    sessionId: str | None = None  # noqa: N815
    copilotVersion: str | None = None  # noqa: N815
    context: _Place | None = None
    content: str | None = None
    source: str | None = None
    isAutopilotContinuation: Any = None  # noqa: N815
    toolRequests: list[_Request] | None = None  # noqa: N815
    toolCallId: str | None = None  # noqa: N815
    success: Any = None
    result: _Result | None = None
    error: Any = None
    message: str | None = None
    summaryContent: str | None = None  # noqa: N815


class _Event(Struct):
    type: str = ""
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    timestamp: Any = None
    agentId: str | None = None  # noqa: N815
    data: _Body = field(default_factory=_Body)


_EVENT = decoder(_Event)


class CopilotReader:
    """Folds one session's events."""

    def __init__(self, opened: Opened) -> None:
        """Take the folder's name, or an old file's, for the session's until an event says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        *_, folder, name = ("", *opened.path.split("/"))
        self._name = folder if name == "events.jsonl" else name.partition(".")[0]
        self._place = _Place()
        self._names: dict[str, str] = {}
        self._told = Told()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given an event, yield what it brings."""
        event = decoded(record, _EVENT, self.unknown)
        if event is None:
            return
        body = event.data
        match event.type:
            case "session.start" | "session.resume" | "session.context_changed":
                self.session = body.sessionId or self.session
                self.version = body.copilotVersion or self.version
                self._place = body.context or self._place
            case _ if _SILENT.fullmatch(event.type):
                return
            case _ if not event.id:
                self.unknown["no id"] += 1
            case "user.message":
                yield from self._user(event)
            case "assistant.message":
                yield from self._assistant(event)
            case "tool.execution_complete":
                yield from self._result(event)
            case _:
                yield from self._aside(event)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: an event is whole."""
        return iter(())

    def _user(self, event: _Event) -> Iterator[Seen]:
        """What was typed is `content`; what the model got, `transformedContent`, has more around it."""
        body = event.data
        if (body.source or "").startswith("agent"):
            origin = Origin.SUBAGENT
        elif body.source or body.isAutopilotContinuation:
            origin = Origin.SYNTHETIC
        else:
            origin = Origin.HUMAN
        for each in pieces(self._entry(event, Role.USER, origin, body.content or "")):
            yield from self._told.tell(each)

    def _assistant(self, event: _Event) -> Iterator[Seen]:
        text = event.data.content or ""
        asked = event.data.toolRequests or []
        calls = tuple(self._call(event, nth, ask) for nth, ask in enumerate(asked))
        entry = self._entry(event, Role.ASSISTANT, Origin.SYNTHETIC, text)
        ended = bool(text) and not calls and event.agentId is None
        yield from self._told.tell(replace(entry, calls=calls, turn_end=ended))

    def _call(self, event: _Event, nth: int, ask: _Request) -> ToolCall:
        arguments = ask.arguments
        if isinstance(arguments, str):
            arguments = _object(arguments)
        name, ident = ask.name or "", ask.toolCallId or f"{event.id}/{nth}"
        self._names[ident] = name
        views = (
            name == "str_replace_editor"
            and isinstance(arguments, dict)
            and arguments.get("command") == "view"
        )
        call = tool_call(ident, "view" if views else name, arguments, self._place.cwd, _TOOLS)
        return replace(call, name=name)

    def _result(self, event: _Event) -> Iterator[Seen]:
        body = event.data
        text = (body.result.content if body.result else None) or ""
        name = self._names.get(body.toolCallId or "", "")
        if body.toolCallId is not None:
            code = _EXIT.search(text)
            yield from self._told.outcome(
                body.toolCallId, ok=body.success is True and (not code or code[1] == "0")
            )
        origin = result_origin(name, text, Origin.SYNTHETIC)
        yield from self._told.tell(self._entry(event, Role.TOOL, origin, shortened(text)))

    def _aside(self, event: _Event) -> Iterator[Seen]:
        """What the agent says of itself; an error and an abort end the turn."""
        body = event.data
        match event.type:
            case "session.compaction_complete":
                entry = self._entry(event, Role.CONTEXT, Origin.RECALLED, body.summaryContent or "")
            case "system.notification":
                entry = self._entry(event, Role.CONTEXT, Origin.SYNTHETIC, body.content or "")
            case "session.error" | "abort":
                entry = self._entry(event, Role.CONTEXT, Origin.SYNTHETIC, body.message or "")
                entry = replace(entry, turn_end=event.agentId is None)
            case other:
                self.unknown[other[:64]] += 1
                return
        yield from self._told.tell(entry)

    def _entry(self, event: _Event, role: Role, origin: Origin, text: str) -> Entry:
        if event.agentId is not None and origin is not Origin.RECALLED:
            origin = Origin.SUBAGENT
        return Entry(
            id=event.id or "",
            agent="copilot-cli",
            session=self.session or self._name,
            role=role,
            origin=origin,
            text=text,
            parent=event.parentId,
            time=instant(event.timestamp),
            cwd=self._place.cwd,
            branch=self._place.branch,
        )


def _object(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`session-state` in `COPILOT_HOME`, else in `~/.copilot`, and what stood there before."""
    home = around.env.get("COPILOT_HOME") or around.home + "/.copilot"
    return (f"{home}/session-state", f"{home}/history-session-state")


_BELONGS = re.compile(r"[^/]+/events\.jsonl|[^/]+\.jsonl|session_[^/]+\.json")
_HISTORY = re.compile(rb'\s*\{\s*"sessionId":\s*"[^"]*",\s*"startTime":\s*"[^"]*",\s*"chatMessages":')


def _claims(path: str, head: bytes) -> bool:
    """True if the first line, or the document's beginning, is this agent's."""
    begun = head.lstrip(b"\xef\xbb\xbf \r\n")
    if path.endswith(".json"):
        return _HISTORY.match(begun) is not None
    first = begun.partition(b"\n")[0]
    return b'"session.start"' in first and b'"copilotVersion"' in first


def _is_history(path: str) -> bool:
    return path.endswith(".json")


SOURCE = Source(
    agent="copilot-cli",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda path: Container.DOCUMENT if _is_history(path) else Container.LINES,
    claims=_claims,
    reader=lambda opened: CopilotHistoryReader(opened) if _is_history(opened.path) else CopilotReader(opened),
    gaps="the documents of 2025 do not say in which folder a session worked",
    seen="documents of October 2025, 0.0.420, 1.0.77, 1.0.78",
)
