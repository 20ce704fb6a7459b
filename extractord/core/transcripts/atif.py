"""ATIF trajectories: a session as one JSON document, written at its end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from extractord.core.records import Origin, Role, Seen
from extractord.core.transcripts.blocks import shown_in
from extractord.core.transcripts.commontools import has_failed
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Container, Opened, Source
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded


class _Extra(Struct):
    cwd: str | None = None
    cwds: list[str] = field(default_factory=list)
    is_sidechain: Any = None


class _Agent(Struct):
    name: str | None = None
    version: str | None = None
    extra: _Extra | None = None


class _Call(Struct):
    tool_call_id: str | None = None
    function_name: str | None = None
    arguments: Any = None


class _Result(Struct):
    source_call_id: str | None = None
    content: Any = None


class _Observation(Struct):
    results: list[_Result] = field(default_factory=list)


class _Step(Struct):
    step_id: int | str | None = None
    timestamp: Any = None
    source: str = ""
    message: Any = None
    tool_calls: list[_Call] | None = None
    observation: _Observation | None = None
    is_copied_context: Any = None
    extra: _Extra | None = None


class _Trajectory(Struct):
    schema_version: str | None = None
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: _Agent = field(default_factory=_Agent)
    steps: list[_Step] | None = None
    subagent_trajectories: list[_Trajectory] | None = None


_DECODER = decoder(_Trajectory)
_SUMMARISING = re.compile(r"-summarization-\d+-(?:summary|questions|answers)$")
"""How Terminus names a session in which it asks itself what came to pass."""
_PART = re.compile(r"-(cont-\d{1,6})$")
"""How Terminus names what goes on with a session in another file, its steps counted from 1 again."""
_TASK = re.compile(
    r"\AYou are an AI assistant tasked with solving command-line tasks\b.*?\n\nTask Description:\n(.*)"
    r"\n\nCurrent terminal state:\n",
    re.DOTALL,
)
_HANDED_OVER = re.compile(
    r"\A(?:Here are the answers the other agent provided\.\n"
    r"|You are picking up work from a previous AI agent on this task:"
    r"|You are about to hand off your work to another AI agent\.)"
)


class AtifReader:
    """Folds a trajectory and those of its sub-agents."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's until the document says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._speech = Speech("atif", opened.path.rsplit("/", 1)[-1].removesuffix(".json"))

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given the whole document, yield what it brings."""
        found = decoded(record, _DECODER, self.unknown)
        if found is None:
            return
        if found.steps is None:
            self.unknown["no steps"] += 1
            return
        named = found.session_id or found.trajectory_id or self._speech.session
        part = _PART.search(named)
        self.session = named[: part.start()] if part else named
        self._speech.begin(self.session)
        self.version = " ".join(filter(None, (found.agent.name, found.agent.version, found.schema_version)))
        extra = found.agent.extra or _Extra()
        self._speech.cwd = extra.cwd or next(iter(extra.cwds), None)
        yield from self._told(found, f"{part[1]}/" if part else "", inner=bool(_SUMMARISING.search(named)))

    def _told(self, found: _Trajectory, prefix: str, *, inner: bool) -> Iterator[Seen]:
        """Given a trajectory, yield its steps, then those of its sub-agents."""
        for nth, step in enumerate(found.steps or ()):
            self._speech.is_subagent = inner or bool(step.extra and step.extra.is_sidechain)
            number = f"at{nth}" if step.step_id is None else step.step_id
            yield from self._step(step, f"{self.session}/{prefix}{number}")
        for nth, sub in enumerate(found.subagent_trajectories or ()):
            yield from self._told(sub, f"{prefix}{sub.trajectory_id or nth}/", inner=True)
        self._speech.is_subagent = False

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a document is whole."""
        return iter(())

    def _step(self, step: _Step, ident: str) -> Iterator[Seen]:
        speech, text = self._speech, shown_in(step.message)
        match step.source:
            case "user":
                entry = speech.entry(Role.USER, Origin.HUMAN, text, ident, step.timestamp)
                if step.is_copied_context:
                    yield from speech.aside(replace(entry, origin=Origin.COPIED))
                elif _HANDED_OVER.match(text):
                    yield from speech.aside(replace(entry, role=Role.CONTEXT, origin=Origin.SYNTHETIC))
                elif text.strip():
                    task = _TASK.match(text)
                    yield from speech.prompted(entry, said=task[1] if task else None)
            case "agent" if not step.is_copied_context:
                asked = step.tool_calls or []
                calls = [
                    speech.call(
                        call.tool_call_id or f"{ident}/{nth}", call.function_name or "", call.arguments
                    )
                    for nth, call in enumerate(asked)
                ]
                entry = speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, step.timestamp)
                yield from speech.answered(entry, calls)
            case "agent" | "system":
                entry = speech.entry(Role.CONTEXT, Origin.SYNTHETIC, text, ident, step.timestamp)
                copied = replace(entry, origin=Origin.COPIED) if step.is_copied_context else entry
                yield from speech.aside(copied)
            case other:
                self.unknown[f"source/{other[:64]}"] += 1
                return
        yield from self._observed(step, ident)

    def _observed(self, step: _Step, ident: str) -> Iterator[Seen]:
        """What came of a step's calls; what names none of them is of all that nothing else names."""
        results = step.observation.results if step.observation else []
        named = {result.source_call_id for result in results}
        others = [call.tool_call_id for call in step.tool_calls or () if call.tool_call_id not in named]
        for nth, result in enumerate(results):
            shown = shown_in(result.content)
            ok = not has_failed(shown)
            call = result.source_call_id or f"{ident}/{nth}"
            yield from self._speech.result(call, shown, ok=ok, time=step.timestamp)
            if ok and shown and result.source_call_id is None:
                for other in filter(None, others):
                    yield from self._speech.result(other, "", ok=True)


_SCHEMA = re.compile(rb'"schema_version"\s*:\s*"ATIF-')


SOURCE = Source(
    agent="atif",
    roots=lambda _around: (),
    belongs=lambda path: path.endswith(".json"),
    container=lambda _path: Container.DOCUMENT,
    claims=lambda path, head: path.endswith(".json") and _SCHEMA.search(head) is not None,
    reader=AtifReader,
    writes_turn_end=False,
    gaps="whole trajectories only, written at their end",
    seen="schema 1.6 to 1.8",
)
