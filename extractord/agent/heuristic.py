"""The embedded model: no key, no network; it keeps what a person plainly states, and nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import msgspec
from msgspec import Struct

from extractord.agent.heuristics import composing
from extractord.agent.heuristics.likeness import Likeness, compare, speaks_of
from extractord.agent.heuristics.merging import removals
from extractord.agent.heuristics.reading import Existing, read
from extractord.agent.heuristics.statements import statements, takes_back
from extractord.agent.heuristics.stating import Statement
from extractord.agent.languages.language import Kind, load
from extractord.core.embedded import NAME
from extractord.core.records import Call, Message, Reply, Tool

FACTS_A_RUN = 16
"""Of more statements in one window the newest are kept."""
STATEMENTS_A_RUN = 64
"""Of more statements only the newest are compared with what there is."""
_SURELY = 0.6

_LANGUAGES = load()
"""Read before a child is forked: a child has nothing to read them from."""


class _Kept(Struct, frozen=True):
    """A memory that a run writes or removes, for one statement."""

    path: str
    statement: Statement
    type: str | None
    """None for a removal."""
    name: str = ""


class Heuristic:
    """Implements Model over the brief's text; a run is one request, and Finish is its last call.

    Without a project nothing is kept that only a project's root may hold.
    """

    def __init__(self, *, has_project: bool = True) -> None:
        self._has_project = has_project

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:  # noqa: ARG002 - the port's
        """Given a brief, return a Write or rm for each statement that is new, and Finish.

        Of memories alone, an rm for each that another one contains.
        """
        answered = any(message.role == "tool" for message in messages)
        kept = [] if answered else self._kept(messages)
        calls = [_call(number, each) for number, each in enumerate(kept, 1)]
        calls += [] if answered or calls else removals(messages)
        finish = Call(id=f"call-{len(calls) + 1}", name="Finish", arguments="{}")
        return Reply(calls=(*calls, finish), model=NAME)

    def _kept(self, messages: Sequence[Message]) -> list[_Kept]:
        reading = read(messages)
        existing = {memory.path: memory for memory in reading.existing}
        kept: dict[str, _Kept] = {}
        replaced: tuple[str, str] | None = None
        stated = [
            statement
            for said, following in zip_longest(reading.said, reading.said[1:])
            if following is None or not takes_back(following, _LANGUAGES)
            for statement in statements(said, _LANGUAGES)
        ]
        for statement in deque(stated, maxlen=STATEMENTS_A_RUN):
            if statement.kind is Kind.ENDED:
                ended = _ended(statement, existing.values())
                if ended is not None:
                    kept[ended] = _Kept(ended, statement, None)
                    replaced = ended, statement.quote
                continue
            forced = replaced[0] if replaced and replaced[1] == statement.quote else None
            for each in self._placed(statement, existing, kept, forced):
                kept.pop(each.path, None)
                kept[each.path] = each
        return list(kept.values())[-FACTS_A_RUN:]

    def _placed(
        self, statement: Statement, existing: dict[str, Existing], kept: dict[str, _Kept], forced: str | None
    ) -> Iterator[_Kept]:
        """The memory that a statement becomes; none where there is no place for it, or it is there."""
        place = composing.place(statement, has_project=self._has_project)
        if place is None or not composing.datable(statement):
            return
        known = [*existing.values(), *(_as_existing(each) for each in kept.values() if each.type)]
        target, likeness = forced, Likeness.CHANGED
        if forced is None:
            target, likeness = _nearest(statement, known)
        if likeness is Likeness.SAME:
            return
        name = composing.name(statement)
        if target is not None and target.startswith(f"/memory/{place.root}/"):
            old = existing.get(target)
            yield _Kept(target, statement, (old.type if old else "") or place.type, name)
            return
        taken = {memory.path for memory in known}
        path = f"/memory/{place.root}/{name}.md"
        number = 2
        while path in taken:
            path = f"/memory/{place.root}/{name}-{number}.md"
            number += 1
        yield _Kept(path, statement, place.type, name)


def _nearest(statement: Statement, known: Sequence[Existing]) -> tuple[str | None, Likeness]:
    """The memory nearest to a statement, and how it stands to it; the same wins over the changed."""
    best: tuple[bool, float, str] | None = None
    for memory in known:
        headline = memory.description or memory.name.replace("-", " ")
        likeness, nearness = compare(statement, headline, f"{headline}\n{memory.body}")
        if likeness is Likeness.OTHER:
            continue
        found = likeness is Likeness.SAME, nearness, memory.path
        best = found if best is None else max(best, found)
    if best is None:
        return None, Likeness.OTHER
    return best[2], Likeness.SAME if best[0] else Likeness.CHANGED


def _ended(statement: Statement, known: Iterable[Existing]) -> str | None:
    """The memory that a statement says has ended, where there is surely one."""
    found = [
        (speaks_of(statement, memory.description or memory.name.replace("-", " ")), memory.path)
        for memory in known
    ]
    surely = [(nearness, path) for nearness, path in found if nearness >= _SURELY]
    return max(surely)[1] if surely else None


def _as_existing(kept: _Kept) -> Existing:
    """A memory of this run, as one that later statements are compared with."""
    body = composing.text(kept.statement, kept.name, kept.type or "")
    return Existing(kept.path, kept.name, composing.headline(kept.statement), kept.type or "", body)


def _call(number: int, kept: _Kept) -> Call:
    evidence = [{"entry": kept.statement.said.label, "quote": kept.statement.quote}]
    if kept.type is None:
        name, arguments = "Bash", {"command": f"rm '{kept.path}'", "evidence": evidence}
    else:
        content = composing.text(kept.statement, kept.name, kept.type)
        name, arguments = "Write", {"file_path": kept.path, "content": content, "evidence": evidence}
    return Call(id=f"call-{number}", name=name, arguments=msgspec.json.encode(arguments).decode())
