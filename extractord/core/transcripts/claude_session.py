"""A session of Claude Code: its lines folded into entries, rewinds found in their tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.claude_calls import calls, output
from extractord.core.transcripts.claude_order import Order
from extractord.core.transcripts.claude_pastes import typed_and_pasted
from extractord.core.transcripts.claude_records import Block, Record, plain
from extractord.core.transcripts.claude_skimming import SILENT, skim, told_by_ends
from extractord.core.transcripts.claude_words import (
    INTERRUPTED,
    MADE_BY,
    is_handed_on,
    is_harness,
    is_strangers,
    prompted_by,
    prose,
    refusal,
    written,
)
from extractord.core.transcripts.decoding import decoder, is_blank
from extractord.core.transcripts.emitted import Emitted
from extractord.core.transcripts.recorded import instant, is_injected, parts, text_key
from extractord.core.transcripts.rewinds import Tree

AGENT = "claude-code"

ENDING = frozenset(["end_turn", "refusal"])

decode = decoder(Record)


class ClaudeSession:
    """Folds the lines of one transcript; a sub-agent's file is known by its path."""

    def __init__(self, path: str) -> None:
        """Take the session's id from the file's name until a record says it."""
        name = path.rpartition("/")[2]
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self.name = name.removesuffix(".jsonl")
        self._is_subagent = "/subagents/" in path or name.startswith("agent-")
        self.tree = Tree()
        self.emitted = Emitted()
        self._texts: Counter[str] = Counter()
        self.order = Order(self._fold, self.tree, is_prompted=self._is_subagent)
        self._folds: dict[str | None, Callable[[Record], Sequence[Seen]]] = {
            "assistant": self._assistant,
            "user": self._user,
            "attachment": self._attachment,
            "system": self._system,
        }

    def feed(self, record: bytes) -> Sequence[Seen]:
        """Given a line, return what it brings."""
        if self.session is not None and (skimmed := skim(record)) is not None:
            node, parent = skimmed
            if node and node not in self.tree:
                self.tree.add(node, parent, anchors=False)
            return ()
        return self.read(record)

    def read(self, record: bytes) -> Sequence[Seen]:
        """The same of a line that its ends tell nothing about."""
        row = decode(record)
        is_first = self.session is None
        if row is None:
            self._broken(record)
            return ()
        self.session = row.session or row.other_session or self.session or self.name
        self.version = row.version or self.version
        if row.type in self._folds:
            return self.order.take(row, is_first=is_first)
        self._place(row)
        if row.type not in SILENT:
            self.unknown[(row.type or "untyped")[:64]] += 1
        return ()

    def _broken(self, record: bytes) -> None:
        if not is_blank(record):
            self.unknown["undecodable"] += 1
        placed = told_by_ends(record)
        if placed is not None and self.session is not None and placed[0] not in self.tree:
            self.tree.add(*placed, anchors=True)

    def settle(self) -> Sequence[Seen]:
        """What waits for a first prompt waits in vain."""
        return self.order.rest()

    def _fold(self, row: Record) -> Sequence[Seen]:
        return self._folds[row.type](row)

    def _user(self, row: Record) -> Sequence[Seen]:
        content = row.message.content if row.message else None
        if isinstance(content, list):
            results = [each for each in content if each.type == "tool_result"]
            if results:
                return self._results(row, results)
        is_aside = self._is_aside(row)
        if row.result is None and not is_aside:
            typed = written(row, content)
            if typed:
                return self._prompt(row, typed)
        self._place(row)
        if row.is_summary:
            return self._said(row, Role.CONTEXT, Origin.RECALLED, plain(content))
        if is_aside:
            return self._said(row, Role.USER, Origin.SUBAGENT, plain(content))
        text = plain(content)
        return self._said(row, Role.CONTEXT, Origin.SYNTHETIC, text, ends=text.startswith(INTERRUPTED))

    def _prompt(self, row: Record, text: str) -> Sequence[Seen]:
        dead: tuple[str, ...] = ()
        self.order.prompted()
        if row.uuid and row.uuid not in self.tree:
            above = row.above()
            dead = self.tree.prompted(row.uuid, above)
            self.tree.add(row.uuid, above, anchors=True)
        said = self._said(row, Role.USER, prompted_by(row, text), text)
        ids = self.emitted.of(dead) if dead else ()
        return [Voided(session=self.session or "", ids=ids), *said] if ids else said

    def _results(self, row: Record, results: list[Block]) -> Sequence[Seen]:
        self._place(row, anchors=True)
        seen: list[Seen] = []
        for nth, block in enumerate(results):
            text, ok = output(block, row)
            call = block.tool_use_id or ""
            is_ours = is_injected(text) or "extractord" in self.emitted.calling(call)
            origin = Origin.RECALLED if is_ours else Origin.SYNTHETIC
            seen += self.emitted.answered(call, ok=ok)
            seen += self._entry(row, Role.TOOL, origin, text, nth=nth)
        if row.message and len(results) < len(row.message.blocks()):
            beside = plain([each for each in row.message.blocks() if each.type == "text"])
            if beside:
                ends = beside.startswith(INTERRUPTED)
                seen += self._entry(row, Role.CONTEXT, Origin.SYNTHETIC, beside, nth=len(results), ends=ends)
        said = "" if self._is_aside(row) else refusal(row)
        if said:
            seen += self._entry(row, Role.USER, prompted_by(row, said), said, nth=len(results) + 1)
        return seen

    def _assistant(self, row: Record) -> Sequence[Seen]:
        message = row.message
        self._place(row, anchors=True)
        if message is None:
            return ()
        if row.is_error or message.model == "<synthetic>":
            text = plain(message.content)
            return self._said(row, Role.CONTEXT, Origin.SYNTHETIC, text, ends=bool(row.is_error))
        made = calls(message.blocks(), row.cwd)
        ends = message.stop_reason in ENDING and not made
        if ends and not message.content:
            return () if self._is_aside(row) else self.emitted.ended()
        return self._said(row, Role.ASSISTANT, Origin.SYNTHETIC, plain(message.content), made=made, ends=ends)

    def _attachment(self, row: Record) -> Sequence[Seen]:
        queued = row.attachment
        if queued is None or queued.type != "queued_command" or (queued.source_uuid or "") in self.tree:
            self._place(row)
            return ()
        row.origin = row.origin or queued.origin
        row.is_meta = row.is_meta or queued.is_meta or queued.mode not in (None, "prompt")
        row.is_untyped = row.is_untyped or is_handed_on(queued)
        is_nobodys = is_harness(row) or queued.source in MADE_BY or is_strangers(queued)
        text = "" if is_nobodys or self._is_aside(row) else prose(queued.prompt)
        self._place(row, anchors=bool(text))
        if not text:
            return self._said(row, Role.CONTEXT, Origin.SYNTHETIC, plain(queued.prompt))
        return self._said(row, Role.USER, prompted_by(row, text), text)

    def _system(self, row: Record) -> Sequence[Seen]:
        is_new = not row.uuid or row.uuid not in self.tree
        self._place(row, anchors=row.subtype == "compact_boundary")
        if row.subtype == "turn_duration" and is_new and not self._is_aside(row):
            return self.emitted.ended()
        return ()

    def _said(
        self,
        row: Record,
        role: Role,
        origin: Origin,
        text: str,
        *,
        made: tuple[ToolCall, ...] = (),
        ends: bool = False,
    ) -> Sequence[Seen]:
        """Entries for a record's text: memory that was injected apart from what stands around it."""
        if not is_injected(text):
            return self._entry(row, role, origin, text, made=made, ends=ends) if text or made else ()
        seen: list[Entry] = []
        stretches = list(parts(text))
        text = "\n\n".join(stretch for stretch, is_memory in stretches if not is_memory)
        memory = (stretch for stretch, is_memory in stretches if is_memory)
        for nth, stretch in enumerate(memory, 1):
            seen += self._entry(row, Role.CONTEXT, Origin.RECALLED, stretch, nth=nth)
        if text or made:
            seen += self._entry(row, role, origin, text, made=made, ends=ends)
        return seen

    def _entry(
        self,
        row: Record,
        role: Role,
        origin: Origin,
        text: str,
        *,
        nth: int = 0,
        made: tuple[ToolCall, ...] = (),
        ends: bool = False,
    ) -> list[Entry]:
        is_aside = self._is_aside(row)
        if row.forked is not None:
            origin = Origin.COPIED
        elif is_aside and origin is Origin.SYNTHETIC:
            origin = Origin.SUBAGENT
        text, pastes = typed_and_pasted(text) if role is Role.USER else (text, ())
        entry = Entry(
            id=row.uuid if row.uuid and not nth else self._key(row, role, text, nth),
            agent=AGENT,
            session=self.session or "",
            role=role,
            origin=origin,
            text=text,
            parent=row.parent if isinstance(row.parent, str) else None,
            calls=made,
            time=instant(row.timestamp),
            cwd=row.cwd,
            branch=row.branch,
            turn_end=ends and not is_aside,
            pastes=pastes,
        )
        return self.emitted.fresh(
            entry, aside=is_aside and not self._is_subagent, part_of=row.uuid if nth else None
        )

    def _key(self, row: Record, role: Role, text: str, nth: int) -> str:
        if row.uuid:
            return f"{row.uuid}#{nth}"
        said = f"{self.session}\n{role}\n{text}"
        key = text_key(said, 0)
        self._texts[key] += 1
        return text_key(said, self._texts[key] - 1)

    def _is_aside(self, row: Record) -> bool:
        return self._is_subagent or row.is_sidechain is True

    def _place(self, row: Record, *, anchors: bool = False) -> None:
        if row.uuid and row.uuid not in self.tree:
            self.tree.add(row.uuid, row.above(), anchors=anchors)
