"""Copilot CLI in 2025: a session as one JSON document, with what was shown as a timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.records import Origin, Role, Seen
from extractord.core.transcripts.blocks import shown_in
from extractord.core.transcripts.commontools import has_failed
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Opened
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_SHELLS = frozenset({"bash", "shell", "powershell", "write_bash"})
_SILENT = frozenset({"info", "warning", "error", "handoff", "compaction", "group_tool_call_completed"})


class _Result(Struct):
    type: str | None = None
    log: Any = None
    markdown: Any = None


class _Moment(Struct):
    """What was shown: somebody's words, a notice, or a call and what came of it."""

    type: str = ""
    id: str | None = None
    timestamp: Any = None
    text: str | None = None
    callId: str | None = None  # noqa: N815 - the record's own name
    name: str | None = None
    arguments: Any = None
    result: _Result | None = None


class _Document(Struct):
    sessionId: str | None = None  # noqa: N815
    timeline: list[_Moment] | None = None


_DOCUMENT = decoder(_Document)


class CopilotHistoryReader:
    """Folds a session's document; where it worked is not in it."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's until the document says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._name = opened.path.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".json")
        self._speech = Speech("copilot-cli", self._name)

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given the whole document, yield what it brings."""
        document = decoded(record, _DOCUMENT, self.unknown)
        if document is None:
            return
        if document.timeline is None:
            self.unknown["no timeline"] += 1
            return
        self.session = document.sessionId or self._name
        self._speech.begin(self.session)
        for nth, moment in enumerate(document.timeline):
            yield from self._moment(moment, f"{self.session}/{nth}")

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a document is whole."""
        return iter(())

    def _moment(self, moment: _Moment, ident: str) -> Iterator[Seen]:
        speech, text = self._speech, moment.text or ""
        ident = moment.id or ident
        match moment.type:
            case "user" if text.strip():
                yield from speech.prompted(
                    speech.entry(Role.USER, Origin.HUMAN, text, ident, moment.timestamp)
                )
            case "copilot" | "assistant":
                entry = speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, moment.timestamp)
                yield from speech.answered(entry)
            case "tool_call_requested" | "tool_call_completed":
                yield from self._call(moment, moment.callId or ident)
            case "user":
                return
            case silent if silent in _SILENT:
                return
            case other:
                self.unknown[other[:64]] += 1

    def _call(self, moment: _Moment, ident: str) -> Iterator[Seen]:
        """A call, and what came of it once it has come: both have the call's own id."""
        speech, name = self._speech, moment.name or ""
        call = speech.call(ident, name, moment.arguments)
        result = moment.result
        shown = shown_in(result.log) or shown_in(result.markdown) if result else ""
        if result is not None:
            failed = result.type != "success" or (name in _SHELLS and has_failed(shown))
            call = replace(call, ok=not failed)
        entry = speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, "", ident, moment.timestamp)
        yield from speech.answered(entry, [call])
        yield from speech.result(ident, shown, ok=None, time=moment.timestamp, name=name)
