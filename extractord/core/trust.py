"""How far a change can be believed: what its evidence and its words come to, never the model's say-so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from extractord.core.attribution import WindowWords, find, index_words
from extractord.core.dates import Day, days_said, is_said
from extractord.core.identifiers import Identifier, Kind, apart, identifiers, searchable
from extractord.core.memory import Memory, parse
from extractord.core.numerals import numbers
from extractord.core.quotes import Citation, cite
from extractord.core.reading_words import read_words
from extractord.core.records import Change, Shown
from extractord.core.relative_dates import relative_days
from extractord.policy.requests import Trust

_LEAST_KNOWN = 6
"""One in so many of a fact's words has to occur in the session at all."""
_KEY = re.compile(
    r"^[ \t]*(?:name|description|type|metadata|tags|aliases|date|created|updated):[ \t]*", re.MULTILINE
)
"""Any other key says something, as its value does."""
_UNSPOKEN = re.compile(
    r"^(?:---[ \t]*|metadata:[ \t]*|[ \t]*type:[ \t]*(?:user|feedback|project|reference)[ \t]*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The trust of a change and why it is no higher; `reason` tells the model what to do."""

    trust: Trust
    reason: str = ""
    observed_at: datetime | None = None
    """The newest time, UTC, of the entries cited."""
    sources: tuple[str, ...] = ()
    """`agent session entry` of each entry cited, in the order of the evidence."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """A memory's text as it is attributed."""

    content: frozenset[str]
    runs: tuple[str, ...]
    names: tuple[Identifier, ...]
    text: str
    """All of it, searchable."""
    numbers: frozenset[str]
    days: frozenset[Day]


_NOTHING = _Fact(frozenset(), (), (), "", frozenset(), frozenset())


def assess(
    change: Change,
    shown: Sequence[Shown] | WindowWords,
    before: str | None = None,
    before_trust: Trust | None = None,
) -> Finding:
    """Given a change and what the brief showed, return how far it can be believed.

    `shown` may be given indexed (`index_words`) where several changes are assessed. `before` is
    the memory's text as it stands, without our stamps; its words count as `before_trust`, as
    `inferred` where nobody knows. The result is never above `stated`, and never raises.

    It is the lowest of the lowest origin cited and of the attribution of the fact's words
    (DESIGN §5). What it cannot see: a negation put in or left out, honest words put together to
    a lie, synonyms and other languages (such words occur nowhere and are no one's; five in six
    of them may be), and a plausible lie in the person's own words.
    """
    window = shown if isinstance(shown, WindowWords) else index_words(shown)
    citation = cite(window.entries, change.evidence)
    entries = [heard.shown.entry for heard, _ in citation.quotes]
    times = [entry.time.astimezone(UTC) for entry in entries if entry.time is not None]
    finding = Finding(
        min(citation.trust, Trust.STATED),
        citation.reason,
        max(times, default=None),
        tuple(dict.fromkeys(f"{entry.agent} {entry.session} {entry.id}" for entry in entries)),
    )
    if citation.trust is Trust.UNTRUSTED:
        return finding
    old = _NOTHING if before is None else _take_apart(before, change.path)
    old_trust = Trust.INFERRED if before_trust is None else min(before_trust, Trust.STATED)
    opinions = (
        _removed(old, before, citation)
        if change.text is None
        else _attributed(_take_apart(change.text, change.path), window, citation, old, old_trust)
    )
    for trust, reason in opinions:
        if trust < finding.trust:
            finding = replace(finding, trust=trust, reason=reason)
        if trust is Trust.UNTRUSTED:
            break
    return finding


_Opinion = tuple[Trust, str]


def _removed(old: _Fact, before: str | None, citation: Citation) -> Iterator[_Opinion]:
    """A removal has no words of its own: its quotes have to speak of what goes."""
    if before is not None and not _speaks_of(citation, old, old.content):
        yield (
            Trust.UNTRUSTED,
            "The quote does not speak of what this memory says: quote where it is taken back.",
        )


def _attributed(
    new: _Fact, window: WindowWords, citation: Citation, old: _Fact, old_trust: Trust
) -> Iterator[_Opinion]:
    added = new.content - old.content
    yield _by_majority(
        [
            (stem, _best(window.stems.get(stem), old_trust if stem in old.content else None))
            for stem in new.content
        ]
    )
    if old is not _NOTHING and added:
        yield _by_majority([(stem, window.stems.get(stem)) for stem in added])
    if not _speaks_of(citation, new, added or new.content):
        yield Trust.INFERRED, "The quotes share no word with the fact: quote where the person says it."
    yield from _by_runs(new, window, old)
    yield from (_by_name(name, window, citation, old, old_trust) for name in new.names)


def _by_majority(stems: Sequence[tuple[str, Trust | None]]) -> _Opinion:
    known = [trust for _, trust in stems if trust is not None]
    if not known or len(known) * _LEAST_KNOWN < len(stems):
        return (
            Trust.UNTRUSTED,
            "Hardly a word of it occurs in the session: keep the words that were said.",
        )
    if 2 * sum(trust >= Trust.STATED for trust in known) >= len(known):
        return Trust.STATED, ""
    foreign = _listed(stem for stem, trust in stems if trust is not None and trust < Trust.STATED)
    if 2 * sum(trust >= Trust.INFERRED for trust in known) >= len(known):
        return (
            Trust.INFERRED,
            f"Most of its words are the agent's ({foreign}): keep to the person's words.",
        )
    return (
        Trust.UNTRUSTED,
        f"Most of its words are tool output's, a page's or a paste's ({foreign}): keep to the person's.",
    )


def _by_runs(new: _Fact, window: WindowWords, old: _Fact) -> Iterator[_Opinion]:
    kept = frozenset(old.runs)
    for run in new.runs:
        if run not in kept and window.runs.get(run) is Trust.UNTRUSTED:
            yield (
                Trust.UNTRUSTED,
                f"“{run}” stands in tool output, a page or a paste, and nobody said it: leave it out.",
            )
            return


def _by_name(
    name: Identifier, window: WindowWords, citation: Citation, old: _Fact, old_trust: Trust
) -> _Opinion:
    trust = _occurring(name, window, old, old_trust)
    if name.kind is Kind.DATE:
        trust = _best(trust, _by_reckoning(name, citation))
    if trust is None and name.kind is Kind.WORD:
        trust = _occurring(apart(name), window, old, old_trust)
    match trust:
        case None:
            how = "quote the words that give it, or leave" if name.kind is Kind.DATE else "leave"
            return Trust.UNTRUSTED, f"`{name.written}` occurs nowhere in the session: {how} it out."
        case Trust.UNTRUSTED:
            return (
                trust,
                f"`{name.written}` comes from tool output, a page or a paste: leave it out.",
            )
        case Trust.INFERRED:
            return trust, f"`{name.written}` is the agent's, not in the person's words: leave it out."
        case _:
            return trust, ""


def _occurring(name: Identifier, window: WindowWords, old: _Fact, old_trust: Trust) -> Trust | None:
    return _best(window.trust_of(name), old_trust if _holds(old, name) else None)


def _by_reckoning(name: Identifier, citation: Citation) -> Trust | None:
    """A date that a quote gives, counted from its entry's time; or the day on which it was said."""
    found: Trust | None = None
    for heard, quote in citation.quotes:
        on = heard.said_on
        if on is None:
            continue
        said: set[Day] = {(day.year, day.month, day.day) for day in (on, *relative_days(quote, on))}
        if any(is_said(day, said) for day in name.days):
            found = _best(found, citation.trust)
    return found


def _holds(fact: _Fact, name: Identifier) -> bool:
    return (
        find(fact.text, name) is not None
        or bool(name.values & fact.numbers)
        or any(is_said(day, fact.days) for day in name.days)
    )


def _speaks_of(citation: Citation, fact: _Fact, stems: frozenset[str]) -> bool:
    """True if a quote shares a content word or an identifier with the fact, or the fact has none."""
    if not stems and not fact.names:
        return True
    for _, quote in citation.quotes:
        text, values = searchable(quote), numbers(quote)
        if read_words(quote).content & stems:
            return True
        if any(find(text, name) is not None or name.values & values for name in fact.names):
            return True
    return False


def _take_apart(text: str, path: str) -> _Fact:
    """All that a reader of the memory sees: values of its front matter, its body, its names."""
    memory = parse(text)
    body = memory.body if isinstance(memory, Memory) else text
    name = memory.name if isinstance(memory, Memory) else ""
    header = text[: len(text) - len(body)]
    head = _KEY.sub("", _UNSPOKEN.sub("", header.replace(f"\nname: {name}\n", "\n", 1)))
    spoken = f"{head}\n{body}"
    labels = f"{name} {path.removesuffix('.md')}".translate(_PARTED)
    readings = [read_words(part) for part in (head, body, labels)]
    return _Fact(
        content=frozenset().union(*(reading.content for reading in readings)),
        runs=tuple(run for reading in readings for run in reading.runs if run is not None),
        names=identifiers(f"{spoken}\n{_HYPHEN.sub(' ', name)}"),
        text=searchable(spoken),
        numbers=numbers(spoken),
        days=days_said(spoken, None),
    )


_HYPHEN = re.compile(r"(?<!\d)-|-(?!\d)")
"""Those that part words; a date keeps its own."""
_PARTED = str.maketrans("-_/.", "    ")


def _best(one: Trust | None, other: Trust | None) -> Trust | None:
    return max((trust for trust in (one, other) if trust is not None), default=None)


def _listed(stems: Iterable[str]) -> str:
    return ", ".join(f"{stem}…" for stem in sorted(stems)[:5])
