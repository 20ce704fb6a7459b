"""A task of Cline or Roo Code: documents rewritten as a whole, what the model got and what a person saw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from extractord.core.records import Origin, Role, Seen, ToolCall
from extractord.core.transcripts.blocks import answered_by, given_in, text_of
from extractord.core.transcripts.cline_records import (
    HISTORY,
    SILENT,
    UI,
    ApiMessage,
    HistoryItem,
    UiMessage,
    asked_in,
    has_failed,
    replied_in,
    result_of,
    sent_in,
    times_in,
    typed_in,
    without_instructions,
    workspace_in,
)
from extractord.core.transcripts.commontools import parsed
from extractord.core.transcripts.source import Opened
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

SHOWN = "ui_messages.json"
SENT = "api_conversation_history.json"
ITEM = "history_item.json"
METADATA = "task_metadata.json"
_VERSION = re.compile(rb'"cline_version":\s*"([^"\\]{1,40})"')
_EDITS = {
    "newFileCreated": "create",
    "editedExistingFile": "edit",
    "appliedDiff": "edit",
    "insertContent": "edit",
}
_EDITS |= {"searchAndReplace": "edit", "fileDeleted": "delete", "readFile": "read"}


class ClineReader:
    """Folds a task's document, either of the two; a prompt has the same key in both."""

    def __init__(self, opened: Opened, agent: str) -> None:
        """Take the folder's name for the task, and what is kept beside for its times and workspace."""
        self.session: str | None = None
        versions = _VERSION.findall(opened.beside.get(METADATA, b""))
        self.version: str | None = versions[-1].decode("utf-8", "replace") if versions else None
        self.unknown: Counter[str] = Counter()
        *_, folder, self._file = ("", *opened.path.replace("\\", "/").split("/"))
        self._speech = Speech(agent, folder or self._file)
        item = HISTORY(opened.beside.get(ITEM, b"")) or HistoryItem()
        self._speech.cwd = item.workspace
        self._speech.is_subagent = bool(item.parentTaskId)
        self._times: dict[str, int] = {}
        self._given: set[str] = set()
        for text, time, is_given in times_in(opened.beside.get(SHOWN, b"")):
            self._times.setdefault(text, time)
            if is_given:
                self._given.add(text)

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given the whole document, yield what it brings."""
        if self._file == SHOWN or b'"say":' in record[:4096]:
            shown = decoded(record, UI, self.unknown)
            if shown is not None:
                self._begin()
                yield from self._saw(shown)
            return
        sent = decoded(record, sent_in, self.unknown)
        if sent is not None:
            self._begin()
            yield from self._sent(sent)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a document is whole."""
        return iter(())

    def _begin(self) -> None:
        self.session = self._speech.session
        self._speech.begin(self.session)

    def _sent(self, messages: list[ApiMessage]) -> Iterator[Seen]:
        """What the model got: results in blocks of their own, or in texts after the calls were texts."""
        asked: list[ToolCall] = []
        for nth, message in enumerate(messages):
            ident = f"{self._speech.session}/{nth}"
            text = text_of(message.content)
            self._speech.cwd = self._speech.cwd or workspace_in(text)
            match message.role:
                case "assistant" | "user" if message.isSummary or message.isTruncationMarker:
                    summary = self._speech.entry(Role.CONTEXT, Origin.RECALLED, text, ident, message.ts)
                    yield from self._speech.aside(summary)
                case "assistant":
                    asked = [*self._calls(message, text, ident)]
                    entry = self._speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, message.ts)
                    yield from self._speech.answered(entry, asked)
                case "user" | "tool":
                    yield from self._user(message, asked)
                case "" if message.type == "reasoning":
                    continue
                case other:
                    self.unknown[f"message/{other[:64]}"] += 1

    def _calls(self, message: ApiMessage, text: str, ident: str) -> Iterator[ToolCall]:
        blocks = message.content if isinstance(message.content, list) else []
        for nth, block in enumerate(blocks):
            if block.type in ("tool_use", "tool-call"):
                call, name = block.id or block.toolCallId, block.name or block.toolName
                yield self._speech.call(call or f"{ident}/{nth}", name or "", block.input)
        for nth, (name, arguments) in enumerate(asked_in(text)):
            yield self._speech.call(f"{ident}/xml/{nth}", name, arguments)

    def _user(self, message: ApiMessage, asked: list[ToolCall]) -> Iterator[Seen]:
        names = {call.id: call.name for call in asked}
        blocks = message.content if isinstance(message.content, list) else []
        texts = [message.content] if isinstance(message.content, str) else []
        for block in blocks:
            if block.type in ("tool_result", "tool-result"):
                ident, shown = answered_by(block) or "", given_in(block)
                tool = names.get(ident) or block.toolName or ""
                yield from self._result(ident, tool, shown, message.ts, failed=block.is_error is True)
            elif block.type == "text" and block.text:
                texts.append(block.text)
        yield from self._texts(texts, asked, message.ts)

    def _texts(self, texts: list[str], asked: list[ToolCall], time: object) -> Iterator[Seen]:
        """What stands in texts: what follows a result's head is its content, whatever it looks like."""
        waiting = list(asked)
        result: tuple[str, str] | None = None
        beside = False
        for each in texts:
            text = without_instructions(each)
            if result is not None and not beside:
                yield from self._result(*result, each, time)
                beside = True
            elif (found := result_of(text)) is not None:
                call = next((each for each in waiting if each.name == found[0]), None)
                waiting = [each for each in waiting if each is not call]
                result = call.id if call else "", found[0]
                beside = bool(found[1].strip())
                if beside:
                    yield from self._result(*result, found[1], time)
            elif text.lstrip().startswith(("<environment_details>", "# task_progress")):
                continue
            elif result is not None:
                yield from self._result(*result, text, time, beside=True)
            elif (said := typed_in(text)) is not None:
                yield from self._prompt(said, time)

    def _result(
        self,
        ident: str,
        tool: str,
        shown: str,
        time: object,
        *,
        failed: bool = False,
        beside: bool = False,
    ) -> Iterator[Seen]:
        if ident:
            ok = not failed and not has_failed(shown)
            yield from self._speech.result(ident, shown, ok=ok, time=time, name=tool)
        if (said := replied_in(tool, shown, beside=beside, given=self._given)) is not None:
            yield from self._prompt(said, time)

    def _prompt(self, said: str, time: object) -> Iterator[Seen]:
        if said:
            at = time or self._times.get(said)
            yield from self._speech.prompted(self._speech.entry(Role.USER, Origin.HUMAN, said, None, at))

    def _saw(self, messages: list[UiMessage]) -> Iterator[Seen]:
        """What a person saw: in an old file what stands first is theirs, a text like the model's."""
        speech = self._speech
        begun = (each.text or "" for each in messages if each.say == "api_req_started")
        speech.cwd = speech.cwd or next(filter(None, map(workspace_in, begun)), None)
        for nth, message in enumerate(messages):
            if message.partial:
                continue
            ident, text = f"{speech.session}/shown/{nth}", message.text or ""
            match message.say or message.ask:
                case "task" | "user_feedback":
                    yield from self._prompt(text.strip(), message.ts)
                case "text" if nth == 0 and message.say:
                    yield from self._prompt(text.strip(), message.ts)
                case "text" | "completion_result" if message.say:
                    entry = speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, message.ts)
                    yield from speech.answered(entry, ended=message.say == "completion_result")
                case "tool" | "command":
                    yield from self._shown_call(message, ident)
                case "condense_context":
                    entry = speech.entry(Role.CONTEXT, Origin.RECALLED, _summary(message), ident, message.ts)
                    yield from speech.aside(entry)
                case other if other is None or not SILENT.fullmatch(other):
                    self.unknown[f"say/{(other or '')[:64]}"] += 1

    def _shown_call(self, message: UiMessage, ident: str) -> Iterator[Seen]:
        """A call as it was shown; whether it was done is not."""
        found = parsed(message.text or "") if "tool" in (message.say, message.ask) else None
        tool = found.get("tool") if isinstance(found, dict) else None
        if isinstance(found, dict):
            name = tool if isinstance(tool, str) else ""
            call = self._speech.call(ident, _EDITS.get(name, name), {"path": found.get("path")})
            call = replace(call, name=name)
        else:
            call = self._speech.call(ident, "execute_command", {"command": message.text or ""})
        entry = self._speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, "", ident, message.ts)
        yield from self._speech.answered(entry, [call])


def _summary(message: UiMessage) -> str:
    found = message.contextCondense
    summary = found.get("summary") if isinstance(found, dict) else None
    return summary if isinstance(summary, str) else message.text or ""
