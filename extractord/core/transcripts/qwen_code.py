"""Qwen Code: JSONL whose records form a tree and say who made them; its old chats are Gemini's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from extractord.core.ports import Reader
from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.branches import Branches
from extractord.core.transcripts.gemini_cli import chat_recording, container
from extractord.core.transcripts.gemini_session import GeminiReader
from extractord.core.transcripts.genai import (
    TEMPLATE,
    TOOLS,
    WRAPPERS,
    Function,
    Part,
    answered_in,
    asked_in,
    exited_badly,
    output_of,
    text_of,
)
from extractord.core.transcripts.qwen_records import DECODER, PAYLOAD, Payload, Record, Result, glued
from extractord.core.transcripts.recorded import instant, shortened, text_key
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings
from extractord.core.transcripts.telling import Told, decoded, pieces, result_origin
from extractord.core.transcripts.toolcalls import tool_call

_NOT_TYPED = frozenset({"notification", "cron", "background_task_completed"})
_SILENT_NAMES = """
    ui_telemetry attribution_snapshot slash_command at_command notification background_task_completed cron
    custom_title parent_session file_history_snapshot session_model session_source session_approval_mode
    session_execution_engine session_notes session_artifact_event session_artifact_snapshot
    session_sources_snapshot user_text_elements omni_recall turn_result branch_checkpoint agent_bootstrap
    agent_launch_prompt agent_retry agent_session_ready"""
_SILENT = frozenset(_SILENT_NAMES.split())
_SCHEDULED = "scheduled_task"


class QwenReader:
    """Folds one session file."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's where no record says it."""
        self.session: str | None = None
        self._name = opened.path.rsplit("/", 1)[-1].partition(".")[0]
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._prompts = Origin.HUMAN
        """Whose the session's prompts are."""
        self._told = Told()
        self._branches = Branches()
        self._nameless: Counter[str] = Counter()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line, yield what it brings; some versions lose the newline between two records."""
        for each in list(glued(record, self.session)) or [record]:
            line = decoded(each, DECODER, self.unknown)
            if line is not None:
                yield from self._take(line)

    def _take(self, line: Record) -> Iterator[Seen]:
        parts = (line.message.parts if line.message else None) or []
        self.session = line.sessionId or self.session
        self.version = line.version or self.version
        if not line.uuid:
            self._identify(line, text_of(parts))
        if not line.uuid:
            self.unknown["no uuid"] += 1
            return
        self._branches.grow(line.uuid, line.parentUuid)
        match line.type:
            case "user":
                yield from self._user(line, parts)
            case "assistant":
                yield from self._assistant(line, parts)
            case "tool_result":
                yield from self._result(line, parts)
            case "system":
                yield from self._system(line)
            case other:
                self.unknown[other[:64]] += 1

    def _identify(self, line: Record, text: str) -> None:
        """Key what was said by its words, and how often they came, where it has no id."""
        words = f"{line.type}\n{text}"
        if text and line.type in ("user", "assistant"):
            line.uuid = f"{self.session or self._name}/{text_key(words, self._nameless[words])}"
            self._nameless[words] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a record is whole."""
        return iter(())

    def _user(self, line: Record, parts: list[Part]) -> Iterator[Seen]:
        text = text_of(parts)
        if line.provenance not in (None, "real_user") or line.subtype in _NOT_TYPED:
            yield from self._tell(*pieces(self._entry(line, Role.CONTEXT, Origin.SYNTHETIC, text), WRAPPERS))
            return
        if dead := self._branches.left_behind(line.uuid or ""):
            yield Voided(session=self.session or self._name, ids=dead)
        payload = self._payload(line)
        said = payload.displayText if payload and payload.displayText else None
        origin = Origin.HEADLESS if TEMPLATE.match(said or text) else self._prompts
        entry = self._entry(line, Role.USER, origin, text)
        yield from self._tell(*pieces(entry, WRAPPERS, said), spoken=True)

    def _assistant(self, line: Record, parts: list[Part]) -> Iterator[Seen]:
        entry = self._entry(line, Role.ASSISTANT, Origin.SYNTHETIC, text_of(parts))
        calls = tuple(self._call(line, nth, ask) for nth, ask in enumerate(asked_in(parts)))
        ended = bool(entry.text) and not calls and not line.isSidechain
        yield from self._tell(msgspec.structs.replace(entry, calls=calls, turn_end=ended), spoken=True)

    def _call(self, line: Record, nth: int, ask: Function) -> ToolCall:
        return tool_call(ask.id or f"{line.uuid}/{nth}", ask.name or "", ask.args, line.cwd, TOOLS)

    def _result(self, line: Record, parts: list[Part]) -> Iterator[Seen]:
        """A record answers one call; its status is the harness's, the exit code the command's."""
        answers = answered_in(parts)
        text = "\n".join(output_of(answer.response) for answer in answers)
        name = next((answer.name for answer in answers if answer.name), "")
        result = line.toolCallResult or Result()
        call = result.callId or next((answer.id for answer in answers if answer.id), None)
        refused = any(isinstance(answer.response, dict) and "error" in answer.response for answer in answers)
        done = result.status == "success" if result.status else not refused
        if call is not None:
            ok = done and not exited_badly(name, text)
            yield from self._told.outcome(call, ok=ok)
        origin = result_origin(name, text, Origin.SYNTHETIC)
        yield from self._tell(self._entry(line, Role.TOOL, origin, shortened(text)))

    def _system(self, line: Record) -> Iterator[Seen]:
        subtype = line.subtype or ""
        if subtype == "rewind":
            if dead := self._branches.off(line.uuid):
                yield Voided(session=self.session or self._name, ids=dead)
        elif subtype == "chat_compression":
            payload = self._payload(line)
            history = payload.compressedHistory if payload else None
            text = text_of(history[0].parts) if history else ""
            if text:
                yield from self._tell(self._entry(line, Role.CONTEXT, Origin.RECALLED, shortened(text)))
        elif subtype == "session_source":
            payload = self._payload(line)
            is_scheduled = payload is not None and payload.sourceType == _SCHEDULED
            self._prompts = Origin.HEADLESS if is_scheduled else Origin.HUMAN
        elif subtype not in _SILENT and not subtype.startswith("goal"):
            self.unknown[f"system/{subtype[:64]}"] += 1

    def _payload(self, line: Record) -> Payload | None:
        return decoded(bytes(line.systemPayload), PAYLOAD, self.unknown)

    def _entry(self, line: Record, role: Role, origin: Origin, text: str) -> Entry:
        if line.forkedFrom:
            origin = Origin.COPIED
        elif line.isSidechain and origin is not Origin.RECALLED:
            origin = Origin.SUBAGENT
        return Entry(
            id=line.uuid or "",
            agent=AGENT,
            session=self.session or self._name,
            role=role,
            origin=origin,
            text=text,
            parent=line.parentUuid,
            time=instant(line.timestamp),
            cwd=line.cwd,
            branch=line.gitBranch,
        )

    def _tell(self, *entries: Entry, spoken: bool = False) -> Iterator[Seen]:
        self._branches.bear(entries[0].id.partition("#")[0], (each.id for each in entries), spoken=spoken)
        for entry in entries:
            yield from self._told.tell(entry)


def _reader(opened: Opened) -> Reader:
    if container(opened.path) is Container.DOCUMENT:
        return GeminiReader(opened, "qwen-code")
    return QwenReader(opened)


AGENT = "qwen-code"


def home_of(around: Surroundings) -> str:
    """Where its settings are, and its sessions unless `QWEN_RUNTIME_DIR` says otherwise."""
    return _absolute(around.env.get("QWEN_HOME") or "~/.qwen", around)


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`projects`, and `tmp` for the old chats."""
    runtime = around.env.get("QWEN_RUNTIME_DIR")
    base = _absolute(runtime, around) if runtime else home_of(around)
    return (f"{base}/projects", f"{base}/tmp")  # noqa: S108 - a folder of the agent's


def _absolute(place: str, around: Surroundings) -> str:
    return (around.home + place[1:] if place.startswith("~/") else place).rstrip("/")


_BELONGS = re.compile(
    r"[^/]+/(?:chats/(?:[^/]+\.jsonl|session-[^/]+\.json)|subagents/[^/]+/agent-[^/]+\.jsonl)"
)


def _claims(path: str, head: bytes) -> bool:
    """True if a record is in this agent's shape, or an old chat lies in its folder."""
    if chat_recording(head):
        return "/.qwen/" in path
    first = head.lstrip(b"\xef\xbb\xbf \r\n").partition(b"\n")[0]
    return (
        first.startswith(b'{"uuid":')
        and b'"parentUuid"' in first
        and (b'"provenance":' in first or b'"parts":' in first or b'"systemPayload":' in first)
    )


SOURCE = Source(
    agent=AGENT,
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=container,
    claims=_claims,
    reader=_reader,
    beside=("../.project_root",),
    seen="0.1.4 to 0.24.4",
)
