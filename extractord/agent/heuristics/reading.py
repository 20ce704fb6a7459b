"""Reads a brief back: who said what when, and which memories there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from msgspec import Struct

from extractord.core.memory import Memory, parse
from extractord.core.records import Message

PERSONS = frozenset({"user", "headless"})
"""The words of a label that a person, or somebody's script, stands behind."""

_FENCE = re.compile(r"^`{3,}$", re.MULTILINE)
_LABEL = re.compile(
    r"^\[(?P<label>e\d{1,9}) (?P<who>\w+)(?: (?P<day>\d{4}-\d\d-\d\d) \d\d:\d\d)?\]\n", re.MULTILINE
)
_HEAD = re.compile(
    r"^## (?P<path>/memory/(?:user|project)/[^\n]{1,1024}?\.md) \([^()\n]{0,60}\)(?:: (?P<line>[^\n]*))?$",
    re.MULTILINE,
)


class Said(Struct, frozen=True):
    """What a person said, as the brief shows it."""

    label: str
    text: str
    day: date | None
    """The person's calendar day."""


class Existing(Struct, frozen=True):
    """A memory that the brief lists; a part that is not shown is empty."""

    path: str
    name: str = ""
    description: str = ""
    type: str = ""
    body: str = ""


class Reading(Struct, frozen=True):
    """A brief, taken apart."""

    said: tuple[Said, ...]
    existing: tuple[Existing, ...]


def read(messages: Sequence[Message]) -> Reading:
    """Given the messages of a run, return what its brief shows; nothing where there is none."""
    content = next((message.content for message in messages if message.role == "user"), "")
    window, before = last_fenced(content)
    manifest, _ = last_fenced(before)
    return Reading(said=tuple(_said(window)), existing=tuple(_existing(manifest)))


def last_fenced(text: str) -> tuple[str, str]:
    """Given a text, return its last fenced block and all before it; a fence is longer than runs inside."""
    fences = list(_FENCE.finditer(text))
    if not fences:
        return "", ""
    closing = fences.pop()
    for opening in reversed(fences):
        if opening[0] == closing[0]:
            return text[opening.end() + 1 : closing.start()], text[: opening.start()]
    return "", ""


def _said(window: str) -> Iterator[Said]:
    for label, end in parted(_LABEL, window):
        if label["who"] in PERSONS:
            day = date.fromisoformat(label["day"]) if label["day"] else None
            yield Said(label["label"], window[label.end() : end].strip("\n"), day)


def _existing(manifest: str) -> Iterator[Existing]:
    for head, end in parted(_HEAD, manifest):
        memory = parse(manifest[head.end() : end].strip())
        if isinstance(memory, Memory) and not head["line"]:
            yield Existing(head["path"], memory.name, memory.description, memory.type, memory.body)
        else:
            yield Existing(head["path"], description=head["line"] or "")


def parted(head: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Given a head, yield each in the text, and where what belongs to it ends: at the next one."""
    heads = list(head.finditer(text))
    for at, found in enumerate(heads, 1):
        yield found, heads[at].start() if at < len(heads) else len(text)
