"""How far a change can be believed: what its evidence and its words come to, never the model's say-so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from extractord.core.attribution import WindowWords, index_words
from extractord.core.dates import Day, is_said
from extractord.core.facts import NOTHING, Fact, take_apart
from extractord.core.identifiers import Identifier, Kind, apart, searchable, together
from extractord.core.majorities import Opinion, Whose, best, of_addition, of_fact, of_nobody, of_sentence
from extractord.core.numerals import numbers
from extractord.core.occurrence import find
from extractord.core.quotes import Citation, cite
from extractord.core.reading_words import read_words
from extractord.core.records import Change, Shown
from extractord.core.relative_dates import relative_days
from extractord.policy.requests import Trust


@dataclass(frozen=True, slots=True)
class Finding:
    """The trust of a change and why it is no higher; `reason` ends, after a colon, with what to do."""

    trust: Trust
    reason: str = ""
    observed_at: datetime | None = None
    """The newest time, UTC, of the entries cited."""
    sources: tuple[str, ...] = ()
    """`agent session entry` of each entry cited, in the order of the evidence."""


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

    It is the lowest of the lowest origin cited and of the attribution of the fact's words, as a
    whole and sentence by sentence; of an edit also of what it adds (DESIGN §5). What it cannot
    see: a negation that nobody said, or one left out, honest words put together to a lie, a sentence of which
    half is the person's and half a page's, synonyms and other languages (such words occur nowhere
    and are no one's; half of them may be), and a plausible lie in the person's own words.
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
    old = NOTHING if before is None else take_apart(before, change.path)
    old_trust = Trust.INFERRED if before_trust is None else min(before_trust, Trust.STATED)
    opinions = (
        _removed(old, before, citation)
        if change.text is None
        else _attributed(take_apart(change.text, change.path), window, citation, old, old_trust)
    )
    for trust, reason in opinions:
        if trust < finding.trust:
            finding = replace(finding, trust=trust, reason=reason)
        if trust is Trust.UNTRUSTED:
            break
    return finding


def _removed(old: Fact, before: str | None, citation: Citation) -> Iterator[Opinion]:
    """A removal has no words of its own: its quotes have to speak of what goes."""
    if before is not None and not _speaks_of(citation, old, old.content):
        yield (
            Trust.UNTRUSTED,
            "The quote does not speak of what this memory says: quote where it is taken back.",
        )


def _attributed(
    new: Fact, window: WindowWords, citation: Citation, old: Fact, old_trust: Trust
) -> Iterator[Opinion]:
    def whose(stem: str) -> Trust | None:
        return best(window.stems.get(stem), old_trust if stem in old.content else None)

    added = new.content - old.content
    yield of_fact(new.content, whose)
    yield of_nobody(new.spoken, whose)
    if old is not NOTHING and added:
        yield of_fact(added, window.stems.get)
        yield of_nobody(added & new.spoken, window.stems.get)
    if not _speaks_of(citation, new, added or new.content):
        yield Trust.INFERRED, "The quotes share no word with the fact: quote where the person says it."
    yield from _by_runs(new, window, old)
    yield from _by_turns(new, window, old)
    yield from _by_sentences(new, window, whose, old, old_trust)
    for name in new.names:
        if name.kind is Kind.COMPOUND:
            yield _by_compound(name, window, whose, old, old_trust)
        else:
            yield _by_name(name, window, citation, old, old_trust)


def _by_runs(new: Fact, window: WindowWords, old: Fact) -> Iterator[Opinion]:
    kept = frozenset(old.runs)
    for run in new.runs:
        if run not in kept and window.runs.get(run) is Trust.UNTRUSTED:
            yield (
                Trust.UNTRUSTED,
                f"“{run}” stands in tool output, a page or a paste, and nobody said it: leave it out.",
            )
            return


def _by_turns(new: Fact, window: WindowWords, old: Fact) -> Iterator[Opinion]:
    """A denial, an always or an only that untrusted text alone puts to a word, whoever has the word."""
    for turn in sorted(new.turned - old.turned):
        if window.turned.get(turn) is Trust.UNTRUSTED:
            word = turn.rpartition(" ")[2]
            yield (
                Trust.UNTRUSTED,
                f"Only a tool, a page or a paste says never, always or only of “{word}…”: leave it out.",
            )
            return


def _by_sentences(
    new: Fact, window: WindowWords, whose: Whose, old: Fact, old_trust: Trust
) -> Iterator[Opinion]:
    """Each sentence by itself, but those that the memory being edited has already."""
    kept = frozenset(old.sentences)
    for sentence in new.sentences:
        if sentence not in kept:
            in_old = old_trust if old.says(sentence) else None
            yield of_sentence(sentence, whose, window, in_old)
            yield of_addition((stem for stem in sentence if stem not in old.content), whose)
    yield from (of_addition(label, whose) for label in new.labels if label not in old.labels)


def _by_compound(name: Identifier, window: WindowWords, whose: Whose, old: Fact, old_trust: Trust) -> Opinion:
    """Words joined by hyphens: the person's where the whole is, or every word; else its source's.

    One that occurs nowhere as a whole is a tool's if one of its words is.
    """
    parts = [whose(stem) for stem in read_words(name.key).content]
    if all(part is not None and part >= Trust.STATED for part in parts):
        return Trust.STATED, ""
    trust: Trust | None = None
    for form in (name, apart(name), together(name)):
        trust = best(trust, _occurring(form, window, old, old_trust))
    if trust is None and Trust.UNTRUSTED in parts:
        trust = Trust.UNTRUSTED
    if trust is None and all(part is None for part in parts):
        return Trust.INFERRED, f"`{name.written}` occurs nowhere in the session: leave it out."
    return (Trust.STATED, "") if trust is None else _from(name, trust)


def _by_name(
    name: Identifier, window: WindowWords, citation: Citation, old: Fact, old_trust: Trust
) -> Opinion:
    trust = _occurring(name, window, old, old_trust)
    if name.kind is Kind.DATE:
        trust = best(trust, _by_reckoning(name, citation))
    if trust is None and name.kind is Kind.WORD:
        trust = _occurring(apart(name), window, old, old_trust)
    if trust is None:
        how = "quote the words that give it, or leave" if name.kind is Kind.DATE else "leave"
        return Trust.UNTRUSTED, f"`{name.written}` occurs nowhere in the session: {how} it out."
    return _from(name, trust)


def _from(name: Identifier, trust: Trust) -> Opinion:
    match trust:
        case Trust.UNTRUSTED:
            return (
                trust,
                f"`{name.written}` comes from tool output, a page or a paste: leave it out.",
            )
        case Trust.INFERRED:
            return trust, f"`{name.written}` is the agent's word: leave it out."
        case _:
            return trust, ""


def _occurring(name: Identifier, window: WindowWords, old: Fact, old_trust: Trust) -> Trust | None:
    return best(window.trust_of(name), old_trust if old.holds(name) else None)


def _by_reckoning(name: Identifier, citation: Citation) -> Trust | None:
    """A date that a quote gives, counted from its entry's time; or the day on which it was said."""
    found: Trust | None = None
    for heard, quote in citation.quotes:
        on = heard.said_on
        if on is None:
            continue
        said: set[Day] = {(day.year, day.month, day.day) for day in (on, *relative_days(quote, on))}
        if any(is_said(day, said) for day in name.days):
            found = best(found, citation.trust)
    return found


def _speaks_of(citation: Citation, fact: Fact, stems: frozenset[str]) -> bool:
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
