"""What a memory says, taken apart as its words are attributed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from extractord.core.dates import Day, days_said, is_said
from extractord.core.identifiers import Identifier, identifiers, searchable
from extractord.core.memory import Memory, parse
from extractord.core.numerals import numbers
from extractord.core.occurrence import find
from extractord.core.reading_words import read_words
from extractord.core.sentences import orders, sentences
from extractord.core.turning import turns

_KEY = re.compile(
    r"^[ \t]*(?:name|description|type|metadata|tags|aliases|date|created|updated):[ \t]*", re.MULTILINE
)
"""Any other key says something, as its value does."""
_UNSPOKEN = re.compile(
    r"^(?:---[ \t]*|metadata:[ \t]*|[ \t]*type:[ \t]*(?:user|feedback|project|reference)[ \t]*)$",
    re.MULTILINE,
)
_HYPHEN = re.compile(r"(?<!\d)-|-(?!\d)")
"""Those that part words; a date keeps its own."""
_PARTED = str.maketrans("-_/.", "    ")


@dataclass(frozen=True, slots=True)
class Fact:
    """A memory's text as it is attributed."""

    content: frozenset[str]
    """Its distinct stems, those of its labels too."""
    spoken: frozenset[str]
    """Those of front matter and body."""
    runs: tuple[str, ...]
    turned: frozenset[str]
    """What it turns (`turning`)."""
    sentences: tuple[tuple[str, ...], ...]
    """The stems of each, in order."""
    order: str
    """All stems in one text, a space around each, sentences apart."""
    labels: tuple[frozenset[str], ...]
    """Those of the name and of the path."""
    names: tuple[Identifier, ...]
    text: str
    """All of it, searchable."""
    numbers: frozenset[str]
    days: frozenset[Day]

    def holds(self, name: Identifier) -> bool:
        """True if the memory names it already."""
        return (
            find(self.text, name) is not None
            or bool(name.values & self.numbers)
            or any(is_said(day, self.days) for day in name.days)
        )

    def says(self, stems: tuple[str, ...]) -> bool:
        """True if the stems stand in it in this order, nothing between them."""
        return f" {' '.join(stems)} " in self.order


NOTHING = Fact(frozenset(), frozenset(), (), frozenset(), (), "", (), (), "", frozenset(), frozenset())


def take_apart(text: str, path: str) -> Fact:
    """Given a memory's text and path, return all that a reader sees: front matter, body, names."""
    memory = parse(text)
    body = memory.body if isinstance(memory, Memory) else text
    name = memory.name if isinstance(memory, Memory) else ""
    header = text[: len(text) - len(body)]
    head = _KEY.sub("", _UNSPOKEN.sub("", header.replace(f"\nname: {name}\n", "\n", 1)))
    head = head.replace('\\"', '"')  # as YAML writes a quotation mark; it parts words either way
    spoken = f"{head}\n{body}"
    labels = [label.translate(_PARTED) for label in (name, path.removesuffix(".md"))]
    readings = [read_words(part) for part in (head, body, " ".join(dict.fromkeys(labels)))]
    return Fact(
        content=frozenset().union(*(reading.content for reading in readings)),
        spoken=readings[0].content | readings[1].content,
        runs=tuple(run for reading in readings for run in reading.runs if run is not None),
        turned=frozenset().union(*map(turns, readings)),
        sentences=sentences(spoken),
        order=orders(spoken),
        labels=tuple(read_words(label).content for label in labels),
        names=identifiers(f"{spoken}\n{_HYPHEN.sub(' ', name)}"),
        text=searchable(spoken),
        numbers=numbers(spoken),
        days=days_said(spoken, None),
    )
