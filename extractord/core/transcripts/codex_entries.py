"""Codex's items to entries, each made of its record and of where its thread stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.codex_calls import calls, output
from extractord.core.transcripts.codex_records import Line, Payload, plain
from extractord.core.transcripts.codex_standing import Standing
from extractord.core.transcripts.emitted import Emitted
from extractord.core.transcripts.recorded import instant, is_injected, parts, shortened, text_key

AGENT = "codex"


class CodexEntries:
    """What a thread has brought so far: nothing goes out twice, and ids count what a turn repeats."""

    def __init__(self) -> None:
        self.emitted = Emitted()
        self.succeeded: dict[str, bool] = {}
        """How commands ended, by their calls, where that is told before their outputs come."""
        self._texts: Counter[str] = Counter()

    def begin(self) -> None:
        """A session begins: what it says was not said before."""
        self._texts = Counter()

    def called(self, at: Standing, line: Line, item: Payload) -> Iterable[Entry]:
        """Given a tool's call, return its entry."""
        return self._entry(at, line, Role.ASSISTANT, Origin.SYNTHETIC, "", made=calls(item, at.cwd))

    def answered(self, at: Standing, line: Line, item: Payload) -> Iterable[Entry]:
        """Given a tool's output, return its entry, and its call's revised where it tells how it ended."""
        call = item.call_id or ""
        text, did = output(item.output)
        did = self.succeeded.pop(call, did) if did is not None else None
        is_ours = "extractord" in self.emitted.calling(call) or is_injected(text)
        seen: list[Entry] = [] if did is None else [*self.emitted.answered(call, ok=did)]
        origin = Origin.RECALLED if is_ours else Origin.SYNTHETIC
        return [*seen, *self._entry(at, line, Role.TOOL, origin, shortened(text), about=call)]

    def compacted(self, at: Standing, line: Line, payload: Payload) -> Iterable[Entry]:
        """Given what a compaction left, return it, and what the agent said last where that was its draft."""
        summary = plain(payload.message)
        last = self.emitted.last
        seen: list[Entry] = []
        if last is not None and last.role is Role.ASSISTANT:
            is_summary = not at.turn_is_prompted or (last.text != "" and last.text in summary)
            seen += self.emitted.recalled() if is_summary else []
        return [*seen, *self._entry(at, line, Role.CONTEXT, Origin.RECALLED, summary)] if summary else seen

    def spoken(self, at: Standing, line: Line, role: Role, origin: Origin, text: str) -> Iterable[Entry]:
        """Entries for a text: memory that was injected apart from what stands around it."""
        stretches = list(parts(text)) if text else []
        rest = "\n\n".join(stretch for stretch, is_memory in stretches if not is_memory)
        memory = (stretch for stretch, is_memory in stretches if is_memory)
        recalled = (self._entry(at, line, Role.CONTEXT, Origin.RECALLED, each) for each in memory)
        seen = [entry for made in recalled for entry in made]
        return [*seen, *self._entry(at, line, role, origin, rest)] if rest else seen

    def _entry(
        self,
        at: Standing,
        line: Line,
        role: Role,
        origin: Origin,
        text: str,
        *,
        made: tuple[ToolCall, ...] = (),
        about: str = "",
    ) -> Iterable[Entry]:
        is_copy = at.is_copy(line)
        said = f"{at.turn or at.scope}\n{role}\n{made[0].id if made else about or text}"
        key = text_key(said, 0)
        self._texts[key] += 1
        if self._texts[key] > 1:
            key = text_key(said, self._texts[key] - 1)
        if is_copy:
            origin = Origin.COPIED
        elif origin is Origin.SYNTHETIC and at.origin is Origin.SUBAGENT:
            origin = Origin.SUBAGENT
        entry = Entry(
            id=key,
            agent=AGENT,
            session=at.session or "",
            role=role,
            origin=origin,
            text=text,
            calls=made,
            time=instant(line.timestamp),
            cwd=(at.cwd or "").removeprefix("file://") or None,
            branch=at.branch,
            ordinal=line.ordinal,
        )
        at.ids.append(key)
        return self.emitted.fresh(entry)
