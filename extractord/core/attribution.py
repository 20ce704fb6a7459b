"""Whose words a window holds: every stem, run and identifier by its most trusted origin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from msgspec.structs import replace

from extractord.core.folding import is_unspaced
from extractord.core.identifiers import Identifier, Kind
from extractord.core.occurrence import Said, gathered
from extractord.core.prose import Span, pasted, prose
from extractord.core.quotes import MARK, Heard, Passage, plain
from extractord.core.reading_words import Reading, read_words
from extractord.core.records import Entry, Origin, Role, Shown
from extractord.core.sentences import orders
from extractord.core.turning import turns
from extractord.policy.requests import Trust

_LINK = re.compile(r"<?[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_NOT_TYPED = re.compile(r"[^\s*-]")
"""What stands between lines of prose is the person's too where it is nothing but links."""
_RANKS = (Trust.STATED, Trust.INFERRED, Trust.UNTRUSTED)
_LEAST_WEIGHT = 4
"""Two words: a spaced word weighs two, a pair of characters of an unspaced script one."""


@dataclass(frozen=True, slots=True)
class WindowWords:
    """A window's words, indexed once a run and asked for each change."""

    entries: Mapping[str, Heard]
    stems: Mapping[str, Trust]
    runs: Mapping[str, Trust]
    said: Mapping[Trust, Said]
    foreign: frozenset[str]
    """Stems that occur in untrusted text, whoever else has them."""
    turned: Mapping[str, Trust]
    """What each text turns (`turning`), by its best trust."""
    in_order: Mapping[Trust, str]
    """All stems of one trust in source order, stop words left out, a space around each.

    Sentences are apart, but in untrusted text, where a stop may have been put in.
    """

    def trust_in_order(self, stems: Sequence[str]) -> Trust | None:
        """The best trust at which untrusted text's stems stand in this order, nothing between them.

        None where untrusted text does not have them so, or where they are fewer than two words.
        """
        if sum(_weight(stem) for stem in stems) < _LEAST_WEIGHT:
            return None
        key = f" {' '.join(stems)} "
        if key not in self.in_order[Trust.UNTRUSTED]:
            return None
        return next(trust for trust in _RANKS if key in self.in_order[trust])

    def trust_of(self, identifier: Identifier) -> Trust | None:
        """The best trust at which an identifier occurs; None where it occurs nowhere.

        An address or command that the agent took from earlier untrusted text counts as that.
        """
        for trust in _RANKS:
            order = self.said[trust].first(identifier)
            if order is None:
                continue
            if trust is Trust.INFERRED and identifier.kind in {Kind.ADDRESS, Kind.COMMAND}:
                source = self.said[Trust.UNTRUSTED].first(identifier)
                if source is not None and source < order:
                    return Trust.UNTRUSTED
            return trust
        return None


def index_words(shown: Sequence[Shown]) -> WindowWords:
    """Given the entries as the brief showed them, return whose words they hold."""
    entries: dict[str, Heard] = {}
    stems: dict[str, Trust] = {}
    runs: dict[str, Trust] = {}
    foreign: set[str] = set()
    turned: dict[str, Trust] = {}
    in_order: dict[Trust, list[str]] = {trust: [] for trust in _RANKS}
    parts: dict[Trust, list[tuple[int, str, date | None]]] = {trust: [] for trust in _RANKS}
    for order, entry in enumerate(shown):
        passages: list[Passage] = []
        for text, trust in _passages(entry):
            reading = read_words(text)
            echo: frozenset[str] = frozenset()
            if entry.entry.role is Role.ASSISTANT and trust is Trust.INFERRED:
                echo = frozenset(run for run in reading.runs if run and runs.get(run) is Trust.UNTRUSTED)
            _note(reading, trust, echo, stems, runs)
            turned |= {turn: max(trust, turned.get(turn, trust)) for turn in turns(reading)}
            if trust is Trust.UNTRUSTED:
                foreign |= reading.content
                in_order[trust].append(f" {' '.join(stem for stem in reading.stems if stem)} ")
            else:
                in_order[trust].append(orders(text))
            passages.append(Passage(plain(text), trust, echo))
            parts[trust].append((order, text, Heard(entry, ()).said_on))
        entries[entry.label] = Heard(entry, tuple(passages))
    return WindowWords(
        entries,
        stems,
        runs,
        {trust: gathered(parts[trust]) for trust in _RANKS},
        frozenset(foreign),
        turned,
        {trust: "\0".join(in_order[trust]) for trust in _RANKS},
    )


def _weight(stem: str) -> int:
    return 1 if is_unspaced(stem[0]) else 2


def _note(
    reading: Reading, trust: Trust, echo: frozenset[str], stems: dict[str, Trust], runs: dict[str, Trust]
) -> None:
    """Enter a passage's words; those inside an echoed run count as what they repeat."""
    own_from = 0
    for at, (stem, run) in enumerate(zip(reading.stems, reading.runs, strict=True)):
        if run in echo:
            own_from = max(own_from, reading.ends[at])
        of = Trust.UNTRUSTED if at < own_from else trust
        if stem is not None and stems.get(stem, Trust.UNTRUSTED) <= of:
            stems[stem] = of
        if run is not None and run not in echo and runs.get(run, Trust.UNTRUSTED) <= trust:
            runs[run] = trust


def _passages(shown: Shown) -> Iterator[tuple[str, Trust]]:
    """The stretches of an entry between marks, each of one trust."""
    trust = origin_trust(shown)
    if shown.entry.role is not Role.USER or trust is Trust.UNTRUSTED:
        yield from ((text, trust) for text in _between_marks(shown.text))
        return
    at = 0
    for start, end in _foreign_spans(shown):
        yield from ((text, trust) for text in _between_marks(shown.text[at:start]))
        yield from ((text, Trust.UNTRUSTED) for text in _between_marks(shown.text[start:end]))
        at = end
    yield from ((text, trust) for text in _between_marks(shown.text[at:]))


def origin_trust(shown: Shown) -> Trust:
    """Given a shown entry, return the trust of what in it is no paste (DESIGN §5)."""
    match shown.entry.role, shown.entry.origin:
        case Role.USER, Origin.HUMAN:
            return Trust.STATED
        case Role.USER, Origin.HEADLESS:
            return Trust.INFERRED
        case Role.ASSISTANT, Origin.SYNTHETIC:
            return Trust.INFERRED
        case _:
            return Trust.UNTRUSTED


def _between_marks(text: str) -> Iterable[str]:
    return (part for part in MARK.split(text) if part.strip())


def _foreign_spans(shown: Shown) -> tuple[Span, ...]:
    """Where a prompt holds what the person did not type: pastes, wrappers, logs, slash commands."""
    entry, text = shown.entry, shown.text
    if entry.text != text and entry.pastes:
        return ((0, len(text)),)
    return foreign_spans(text, entry.pastes, prose(entry if entry.text == text else _with_text(shown)))


def foreign_spans(text: str, marked: Iterable[Span], own: str) -> tuple[Span, ...]:
    """Given a prompt, its marked pastes and what of it is prose, return all that is not."""
    spans: list[Span] = list(marked)
    at = 0
    for line in filter(str.strip, own.split("\n")):
        start = text.find(line, at)
        if start < 0:
            return ((0, len(text)),)
        spans.append((at, start))
        at = start + len(line)
    spans.append((at, len(text)))
    return pasted(text, [span for span in spans if _NOT_TYPED.search(_LINK.sub("", text[slice(*span)]))])


def _with_text(shown: Shown) -> Entry:
    return replace(shown.entry, text=shown.text)
