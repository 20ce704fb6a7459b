"""Copilot CLI: JSONL events, from which a rewind deletes; sub-agents write into the same file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall
from extractord.core.transcripts.copilot_history import CopilotHistoryReader
from extractord.core.transcripts.copilot_records import EVENT, Event, Place, Request
from extractord.core.transcripts.recorded import instant, shortened, text_key
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
    "powershell": _SHELL,
}
_EXIT = re.compile(r"<(?:shellId: \S+ completed|exited) with exit code (-?\d+)>\s*\Z")
_SILENT = re.compile(
    r"assistant\.(?!message$).*|tool\.(?!execution_complete$).*|(?:hook|permission|subagent|skill|tool_search"
    r"|external_tool|model|mcp|mcp_app|elicitation|sampling|command|commands|capabilities|factory|ui"
    r"|pending_messages|auto_mode_switch|session_limits_exhausted)\..*|user_input\.requested"
    r"|exit_plan_mode\.requested|session\.(?!start$|resume$|error$|compaction_complete$|context_changed$).*"
)
_BY_PROGRAM = "running in non-interactive mode"
"""What the model is told where a program gives the prompts."""
_SPOKEN = frozenset({"user.message", "assistant.message"})
"""What is known by its words where it has no id."""
_TYPED = frozenset({None, "", "user", "human"})


class CopilotReader:
    """Folds one session's events."""

    def __init__(self, opened: Opened) -> None:
        """Take the folder's name, or an old file's, for the session's until an event says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        *_, folder, name = ("", *opened.path.split("/"))
        self._name = folder if name == "events.jsonl" else name.partition(".")[0]
        self._place = Place()
        self._names: dict[str, str] = {}
        self._told = Told()
        self._texts: Counter[str] = Counter()
        self._prompts = Origin.HUMAN
        self._asked: Entry | None = None

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given an event, yield what it brings."""
        event = decoded(record, EVENT, self.unknown)
        if event is None:
            return
        body = event.data
        match event.type:
            case "session.start" | "session.resume" | "session.context_changed":
                self.session = body.sessionId or self.session
                self.version = body.copilotVersion or self.version
                self._place = body.context or self._place
            case "system.message":
                yield from self._instructed(event)
            case _ if _SILENT.fullmatch(event.type):
                return
            case _ if not event.id and not (event.type in _SPOKEN and event.data.content):
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

    def _user(self, event: Event) -> Iterator[Seen]:
        """What was typed is `content`; what the model got, `transformedContent`, has more around it."""
        body = event.data
        if (body.source or "").startswith("agent"):
            origin = Origin.SUBAGENT
        elif body.source not in _TYPED or body.isAutopilotContinuation:
            origin = Origin.SYNTHETIC
        else:
            origin = self._prompts
        for each in pieces(self._entry(event, Role.USER, origin, body.content or "")):
            self._asked = each if each.origin is self._prompts and each.role is Role.USER else self._asked
            yield from self._told.tell(each)

    def _instructed(self, event: Event) -> Iterator[Seen]:
        """The model's instructions say who drives it; they may come after the first prompt."""
        if _is_subagents(event) or not event.data.content:
            return
        origin = Origin.HEADLESS if _BY_PROGRAM in event.data.content else Origin.HUMAN
        if origin is not self._prompts and self._asked is not None:
            yield from self._told.tell(replace(self._asked, origin=origin))
        self._prompts, self._asked = origin, None

    def _assistant(self, event: Event) -> Iterator[Seen]:
        text = event.data.content or ""
        asked = event.data.toolRequests or []
        entry = self._entry(event, Role.ASSISTANT, Origin.SYNTHETIC, text)
        calls = tuple(self._call(entry.id, nth, ask) for nth, ask in enumerate(asked))
        ended = bool(text) and not calls and not _is_subagents(event)
        yield from self._told.tell(replace(entry, calls=calls, turn_end=ended))

    def _call(self, entry: str, nth: int, ask: Request) -> ToolCall:
        arguments = ask.arguments
        if isinstance(arguments, str):
            arguments = _object(arguments)
        name, ident = ask.name or "", ask.toolCallId or f"{entry}/{nth}"
        self._names[ident] = name
        views = (
            name == "str_replace_editor"
            and isinstance(arguments, dict)
            and arguments.get("command") == "view"
        )
        call = tool_call(ident, "view" if views else name, arguments, self._place.cwd, _TOOLS)
        return replace(call, name=name)

    def _result(self, event: Event) -> Iterator[Seen]:
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

    def _aside(self, event: Event) -> Iterator[Seen]:
        """What the agent says of itself; an error and an abort end the turn."""
        body = event.data
        match event.type:
            case "session.compaction_complete":
                entry = self._entry(event, Role.CONTEXT, Origin.RECALLED, body.summaryContent or "")
            case "system.notification":
                entry = self._entry(event, Role.CONTEXT, Origin.SYNTHETIC, body.content or "")
            case "session.error" | "abort":
                entry = self._entry(event, Role.CONTEXT, Origin.SYNTHETIC, body.message or "")
                entry = replace(entry, turn_end=not _is_subagents(event))
            case "user_input.completed" | "exit_plan_mode.completed":
                said = body.answer if body.wasFreeform else body.feedback
                entry = self._entry(event, Role.USER, self._prompts, said or "")
            case other:
                self.unknown[other[:64]] += 1
                return
        if entry.text or entry.turn_end:
            yield from self._told.tell(entry)

    def _entry(self, event: Event, role: Role, origin: Origin, text: str) -> Entry:
        if _is_subagents(event) and origin is not Origin.RECALLED:
            origin = Origin.SUBAGENT
        return Entry(
            id=event.id or self._key(role, text),
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

    def _key(self, role: Role, text: str) -> str:
        words = f"{role}\n{text}"
        self._texts[words] += 1
        return f"{self.session or self._name}/{text_key(words, self._texts[words] - 1)}"


def _is_subagents(event: Event) -> bool:
    """True for what a sub-agent did; before it said so itself, its events named the call that began it."""
    return event.agentId is not None or event.data.parentToolCallId is not None


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
    seen="documents of October 2025, 0.0.420, 1.0.77 to 1.0.102",
)
