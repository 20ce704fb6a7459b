"""Which memories may say the same, contradict one another or have run out; asked before any request."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime

from msgspec import Struct
from rapidfuzz import fuzz, process, utils

from extractord.core.dates import days_said
from extractord.core.memory import Malformed, parse
from extractord.core.numerals import numbers
from extractord.core.reading_words import read_words
from extractord.core.records import Entry, Origin, Role, Shown
from extractord.core.surveyed import Surveyed
from extractord.core.tokens import estimate_tokens
from extractord.policy.requests import RootKind, Trust

NEAR = 88.0
"""Descriptions as like as this, of 100, may say the same."""
_ONE_TOPIC = 0.6
"""So much of the shorter one's words is shared by two of one topic."""
_LEAST_SHARED = 2
COMPARED = 2_000
"""Of more memories in a root only the newest are compared."""
_ENDS = re.compile(
    r"\b(?:until|till|by|before|deadline|freezes?|expires?|bis|jusqu\w*|hasta|frist)\b|まで|截止|之前",
    re.IGNORECASE,
)
AGENT = "extractord"
_ROLES = {Trust.STATED: Role.USER, Trust.INFERRED: Role.ASSISTANT, Trust.UNTRUSTED: Role.TOOL}


class Kept(Struct, frozen=True, kw_only=True):
    """A memory that may be consolidated."""

    root: RootKind
    row: Surveyed
    text: str
    """Without our stamps."""
    said_at: datetime

    @property
    def virtual(self) -> str:
        """Its path as the sub-agent sees it."""
        return f"/memory/{self.root}/{self.row.path}"


def suspects(memories: Iterable[Kept], today: date) -> tuple[Kept, ...]:
    """Given the memories of a run's roots, return those that need a look, related ones together.

    Those are pairs in one root with nearly the same description or one topic, and memories that
    name an end that is past. Pinned ones and those that are no run's to change are left out.
    """
    found: dict[str, Kept] = {}
    by_root: dict[RootKind, list[Kept]] = {}
    for one in memories:
        if not (one.row.pinned or one.row.fault or one.row.withheld):
            by_root.setdefault(one.root, []).append(one)
    for kept in by_root.values():
        newest = sorted(kept, key=lambda one: (-one.row.mtime_ns, one.row.path))[:COMPARED]
        for first, second in _pairs(newest):
            found |= {first.virtual: first, second.virtual: second}
        found |= {one.virtual: one for one in newest if _has_ended(one, today)}
    return tuple(found.values())


def session_of(memories: Sequence[Kept], mode: str) -> str:
    """Given what a run would look at, return its session: the same for the same bytes."""
    names = sorted(f"{one.virtual} {one.row.sha256}" for one in memories)
    return f"consolidate-{mode}-{hashlib.sha256(chr(10).join(names).encode()).hexdigest()[:16]}"


def fitting(memories: Sequence[Kept], tokens: int) -> tuple[Kept, ...]:
    """Given suspects, related ones together, return as many as fit a brief, at least two."""
    taken: list[Kept] = []
    for one in memories:
        tokens -= estimate_tokens(one.text) + 40
        if tokens < 0 and len(taken) > 1:
            break
        taken.append(one)
    return tuple(taken)


def shown(memories: Sequence[Kept]) -> tuple[Shown, ...]:
    """Given memories, return them as the entries that a run's evidence can cite.

    What a memory says is as good as the memory: words of a stated one are a person's, of an inferred
    one an agent's, of any other a tool's.
    """
    return tuple(_shown(f"e{number}", one) for number, one in enumerate(memories, 1))


def rendered(memories: Sequence[Kept], entries: Sequence[Shown]) -> str:
    """Given memories and their entries, return them as the brief lists them."""
    return "\n\n".join(
        f"[{entry.label} {one.virtual} {_word(one.row.trust)} {one.said_at:%Y-%m-%d}]\n{entry.text}"
        for one, entry in zip(memories, entries, strict=True)
    )


def says_all(keeper: str, other: str) -> bool:
    """True if one text has every word that carries content, and every number, of another."""
    has, wanted = read_words(keeper), read_words(other)
    return wanted.content <= has.content and numbers(other) <= numbers(keeper) and bool(wanted.content)


def _word(trust: Trust | None) -> str:
    return trust.word if trust is not None else "unknown"


def _shown(label: str, one: Kept) -> Shown:
    trust = Trust.UNTRUSTED if one.row.trust is None else min(one.row.trust, Trust.STATED)
    memory = parse(one.text)
    text = one.text if isinstance(memory, Malformed) else f"{memory.description}\n\n{memory.body}".strip()
    entry = Entry(
        id=one.virtual,
        agent=AGENT,
        session="",
        role=_ROLES[trust],
        origin=Origin.HUMAN if trust is Trust.STATED else Origin.SYNTHETIC,
        text=text,
        time=one.said_at.astimezone(UTC),
    )
    return Shown(label=label, entry=entry, text=text, said_on=one.said_at.date())


def _pairs(memories: Sequence[Kept]) -> Iterator[tuple[Kept, Kept]]:
    said = {at: one.row.description or one.row.title for at, one in enumerate(memories)}
    topics = {at: _topic(words) for at, words in said.items()}
    for at, words in said.items():
        later: Mapping[int, str] = {other: text for other, text in said.items() if other > at}
        near = process.extract(
            words, later, scorer=fuzz.ratio, processor=utils.default_process, score_cutoff=NEAR, limit=None
        )
        related = {other for _, _, other in near}
        related |= {other for other in later if _is_one_topic(topics[at], topics[other])}
        for other in sorted(related):
            yield memories[at], memories[other]


def _topic(words: str) -> frozenset[str]:
    return read_words(words).content


def _is_one_topic(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= _LEAST_SHARED and shared >= _ONE_TOPIC * min(len(one), len(other))


def _has_ended(one: Kept, today: date) -> bool:
    """True if it names an end, and every day that it names with its year is past."""
    if not _ENDS.search(one.text):
        return False
    said = [day for day in days_said(one.row.description, None) if day[0] is not None]
    return bool(said) and all(_is_past(day, today) for day in said)


def _is_past(day: tuple[int | None, int, int | None], today: date) -> bool:
    year, month, of_month = day
    return (year or today.year, month, of_month or 31) < (today.year, today.month, today.day)
