"""A session of Kimi Code or Kimi CLI: one agent's wire, in each of its forms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, Seen, Voided
from extractord.core.transcripts.blocks import REMINDER, shown_in
from extractord.core.transcripts.chat import ROLES, ChatMessage, Function
from extractord.core.transcripts.chat import opening as opening_chat
from extractord.core.transcripts.chat import told as told_chat
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.kimi_records import RECORD, STATE, By, Event, Message, Payload, Record
from extractord.core.transcripts.source import Opened
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_ENDS = frozenset({"end_turn", "stop", "length", "max_tokens"})
_SILENT = re.compile(
    r"(?:config|tools|llm|usage|permission|plan_mode|plugin|runtime|token_counting|profile|goal|swarm|mcp|agent"
    r"|prompt|file_history|task|cron|interaction|subagent|hook)\..*|turn\.(?!prompt$|steer$|ended$|cancel$).*"
    r"|context\.(?:clear|reset|spliced|undone|overflow|update_token_count)|forked|full_compaction\..*|metadata"
    r"|step\.(?:begin|end)|StepBegin|StatusUpdate|Compaction(?:Begin|End)|Hook\w+|MCP\w+|Notification"
    r"|PlanDisplay|QuestionRe\w+|ApprovalRe\w+|SubagentEvent|ToolCallPart|ToolCallRequest|Btw\w+"
    r"|_system_prompt|_usage|_checkpoint"
)
_SYSTEM = re.compile(
    r"\A\s*<system>.*</system>|\A\s*<(?:notification [^<>\n]*|active-background-tasks)>.*|"
    + REMINDER.pattern,
    re.DOTALL,
)
"""What stands in a user's message of the old context beside a person's words, or instead of them."""
_COMPACTED = re.compile(r"\s*<system>Previous context has been compacted\b")
_CHAT = decoder(ChatMessage)


class KimiReader:
    """Folds one agent's wire."""

    def __init__(self, opened: Opened) -> None:
        """Take session and agent from the folders, and the cwd from the state beside, if it is there."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        *folders, name = opened.path.replace("\\", "/").split("/")
        wired = name in ("wire.jsonl", "context.jsonl")
        session = folders[-1] if wired and folders else name.partition(".")[0]
        if wired and folders[-2:-1] == ["agents"]:
            session = folders[-3] if folders[-3:-2] else session
        self._speech = Speech("kimi", session)
        self._speech.is_subagent = wired and folders[-2:-1] == ["agents"] and folders[-1] != "main"
        states = [state for state in map(STATE, opened.beside.values()) if state is not None]
        places = (state.workDir or state.cwd for state in states)
        self._speech.cwd = next(filter(None, places), None)
        self._speech.begin(session, next((state.forkedFrom for state in states if state.forkedFrom), None))
        self._are_marked = False
        self._echoes: Counter[str] = Counter()
        self._turns: list[list[str]] = []
        self._last: Entry | None = None

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line, yield what it brings."""
        line = decoded(record, RECORD, self.unknown)
        if line is None:
            return
        self.session = self._speech.session
        self.version = line.protocol_version or self.version
        self._speech.cwd = line.cwd or self._speech.cwd
        if line.environmentDisclosure is not None:
            self._speech.cwd = line.environmentDisclosure.cwd or self._speech.cwd
        for seen in self._line(line, record):
            if isinstance(seen, Entry):
                self._last = seen if seen.role is Role.ASSISTANT else self._last
                if self._turns:
                    self._turns[-1].append(seen.id)
            yield seen

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a line is whole."""
        return iter(())

    def _line(self, line: Record, record: bytes) -> Iterator[Seen]:
        match line.type or line.role:
            case "turn.prompt" | "turn.steer":
                self._echoes[shown_in(line.input)] += 1
                self._are_marked = True
                is_new = line.type == "turn.prompt"
                yield from self._said(line.input, line.origin, line.time, line.promptId, is_new=is_new)
            case "permission.record_approval_result":
                yield from self._answered(line.result, line.time)
            case "context.append_message" if line.message is not None:
                yield from self._appended(line.message, line.time)
            case "context.append_loop_event" if line.event is not None:
                yield from self._happened(line.event, line.time)
            case "context.apply_compaction":
                summary = line.summary or ""
                yield from self._speech.aside(
                    self._speech.entry(Role.CONTEXT, Origin.RECALLED, summary, None, line.time)
                )
            case "context.undo":
                yield from self._undone(line.count)
            case "turn.ended" | "turn.cancel":
                yield from self._ended()
            case other if not _SILENT.fullmatch(other):
                yield from self._older(line, record)

    def _older(self, line: Record, record: bytes) -> Iterator[Seen]:
        """A line of the old wire, or of the context file of old."""
        if line.message is not None and line.message.payload is not None and not line.type:
            yield from self._old(line.message.type, line.message.payload, line.timestamp)
        elif line.role in ROLES:
            yield from self._chat(record)
        else:
            self.unknown[(line.type or line.role)[:64] or "no type"] += 1

    def _said(
        self, given: object, origin: By | None, time: object, ident: str | None, *, is_new: bool
    ) -> Iterator[Seen]:
        """A prompt, or what somebody else than the person put in its place."""
        by = origin or By()
        by_person = by.kind in (None, "user")
        asked = by.skillArgs or by.commandArgs if by.trigger == "user-slash" else None
        loaded = len(by.skillActivations or ()) if by_person and isinstance(given, list) else 0
        text = shown_in(given[loaded:] if loaded and isinstance(given, list) else given)
        if is_new and (by_person or asked):
            self._turns.append([])
        if by_person or asked:
            said = self._speech.entry(
                Role.USER, Origin.HUMAN, text if by_person else asked or "", ident, time
            )
            yield from self._speech.prompted(said, REMINDER) if said.text.strip() else ()
        around = shown_in(given[:loaded]) if loaded and isinstance(given, list) else "" if by_person else text
        if around.strip():
            entry = self._speech.entry(Role.CONTEXT, Origin.SYNTHETIC, around, None, time)
            yield from self._speech.prompted(entry, REMINDER)

    def _answered(self, given: object, time: object) -> Iterator[Seen]:
        """What a person wrote when they refused a call."""
        feedback = given.get("feedback") if isinstance(given, dict) else given
        if isinstance(feedback, str) and feedback.strip():
            entry = self._speech.entry(Role.USER, Origin.HUMAN, feedback, None, time)
            yield from self._speech.prompted(entry)

    def _appended(self, message: Message, time: object) -> Iterator[Seen]:
        """A message of the context: mostly the echo of a prompt.

        Where prompts have records of their own, a user's message that echoes none is the agent's.
        """
        text = shown_in(message.content)
        if message.role != "user":
            return
        if self._echoes[text] > 0:
            self._echoes[text] -= 1
        elif self._are_marked and message.origin is None:
            entry = self._speech.entry(Role.CONTEXT, Origin.SYNTHETIC, text, None, time)
            yield from self._speech.prompted(entry) if text.strip() else ()
        else:
            yield from self._said(message.content, message.origin, time, message.id, is_new=False)

    def _happened(self, event: Event, time: object) -> Iterator[Seen]:
        speech = self._speech
        ident = f"{speech.session}/{event.uuid}" if event.uuid else None
        match event.type:
            case "content.part":
                text = event.part.text if event.part and event.part.type == "text" else None
                if text:
                    yield from speech.answered(
                        speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, time)
                    )
            case "tool.call":
                call = speech.call(event.toolCallId or ident or "", event.name or "", event.args)
                entry = speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, "", ident, time)
                yield from speech.answered(entry, [call])
            case "tool.result":
                yield from self._result(event.toolCallId or "", event.result, time)
            case "step.end" if event.finishReason in _ENDS:
                yield from self._ended()
            case "step.begin" | "step.end":
                return
            case other:
                self.unknown[f"event/{other[:64]}"] += 1

    def _result(self, call: str, result: object, time: object) -> Iterator[Seen]:
        failed = isinstance(result, dict) and bool(result.get("isError") or result.get("is_error"))
        yield from self._speech.result(call, shown_in(result), ok=not failed, time=time)

    def _ended(self) -> Iterator[Seen]:
        if self._last is not None and not self._last.turn_end:
            yield from self._speech.answered(self._last, self._last.calls, ended=True)

    def _undone(self, count: object) -> Iterator[Seen]:
        """The last prompts, and all that followed them, were taken back."""
        nth = count if isinstance(count, int) and count > 0 else 1
        gone, self._turns = self._turns[-nth:], self._turns[:-nth]
        if dead := tuple(dict.fromkeys(ident for turn in gone for ident in turn)):
            self._last = None
            yield Voided(session=self._speech.session, ids=dead)

    def _old(self, kind: str, payload: Payload, time: object) -> Iterator[Seen]:
        """An event of the old wire."""
        speech = self._speech
        match kind:
            case "TurnBegin" | "SteerInput":
                yield from self._said(payload.user_input, None, time, None, is_new=True)
            case "ApprovalResponse" | "ApprovalRequestResolved":
                yield from self._answered(payload.feedback, time)
            case "ContentPart":
                text = payload.text if payload.type == "text" else None
                if text:
                    yield from speech.answered(
                        speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, None, time)
                    )
            case "ToolCall":
                asked = payload.function or Function()
                call = speech.call(payload.id or "", asked.name or "", asked.arguments)
                yield from speech.answered(
                    speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, "", payload.id, time), [call]
                )
            case "ToolResult":
                result = payload.return_value
                if result is None:
                    result = {"output": payload.output, "is_error": payload.is_error}
                yield from self._result(payload.tool_call_id or "", result, time)
            case "TurnEnd" | "StepInterrupted":
                yield from self._ended()
            case other if not _SILENT.fullmatch(other):
                self.unknown[f"message/{other[:64]}"] += 1

    def _chat(self, record: bytes) -> Iterator[Seen]:
        """A line of the context file of old."""
        message = _CHAT(record) or ChatMessage()
        entry = opening_chat(self._speech, message)
        if message.role == "user" and _COMPACTED.match(entry.text):
            yield from self._speech.aside(replace(entry, role=Role.CONTEXT, origin=Origin.RECALLED))
        elif message.role == "user":
            yield from self._speech.prompted(entry, _SYSTEM) if entry.text.strip() else ()
        else:
            yield from told_chat(self._speech, message, entry, ended=True)
