"""How pages say things: times, paths, diffs, and text that others wrote."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from extractord.cli.elapsed import ago
from extractord.cli.reasons import why_withheld
from extractord.cli.web.entering import Entry
from extractord.cli.writing import diff
from extractord.core.printable import printable
from extractord.core.survey import Surveyed, place_of
from extractord.errors import UsageError

_PLACE = Path(__file__).with_name("templates")
_HASH = 17
"""The end of a project's folder: a dash and 16 hex digits."""
_HEADS = 2
"""Lines that begin a diff, and name the file twice."""
_MARKS = {"+": "added", "-": "removed", "@": "place"}

DONE = {
    "edited": "Your words are in place. The version before is in the history.",
    "unchanged": "Nothing was changed: the text is as it was.",
    "forgotten": "Forgotten. The same words do not bring it back, only saying it again.",
    "purged": "Forgotten, and its history erased.",
    "pinned": "Pinned: no run changes it any more.",
    "unpinned": "Unpinned: runs may change it again.",
    "restored": "That version is back in its place.",
    "accepted": "Accepted: it is confirmed by you now.",
    "rejected": "Rejected. The same words do not bring it back.",
    "undone": "Undone: all that the run changed is as it was before.",
    "reopened": "Its exchanges are open again: the daemon or `extractord extract` takes them up.",
    "reopened-before": "Its exchanges were opened before.",
}
"""What may be said about what was just done: a page says no word that its address brings."""


def templates(entry: Entry) -> Environment:
    """Given what lets in, return the templates: what they are given is text, and stays that."""
    made = Environment(
        loader=FileSystemLoader(_PLACE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["link"] = lambda page, /, **query: link(entry, page, **query)
    made.globals["word"] = entry.word
    made.globals["done_words"] = DONE
    for word in (ago, shown, when, called, placed, duration, written_at, why_withheld):
        made.filters[word.__name__] = word
    return made


def link(entry: Entry, page: str, /, **query: object) -> str:
    """Given a page and what it is asked, return its address on this host."""
    asked = {name: value for name, value in query.items() if value}
    return f"/{entry.folder}/{page}" + (f"?{urlencode(asked)}" if asked else "")


def shown(text: str) -> str:
    """Given text that others wrote, return it line by line without what cannot be seen."""
    return "\n".join(printable(line.replace("\t", "    ")) for line in text.splitlines())


def when(at: datetime) -> str:
    """Given an aware moment, return it in the person's zone."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def written_at(row: Surveyed) -> datetime:
    """Given a memory, return when its file was last written."""
    return datetime.fromtimestamp(row.mtime_ns / 1e9, UTC)


def called(root: str) -> str:
    """Given a root's name, return what a person calls it."""
    return "About you" if root == "user" else root.removeprefix("projects/")[:-_HASH]


def placed(place: str) -> str:
    """Given root and path of a memory, return both as a person reads them."""
    root, path = place_of(place)
    return f"{called(root)} \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} {path}"


def nothing_at(place: str) -> UsageError:
    """Given a place where no memory is or was, return what a person is told."""
    return UsageError(f"there is no memory at {place}: see the list")


def moment(text: str) -> datetime | None:
    """Given a stamp's time, return it; None where it is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


def duration(ms: float) -> str:
    """Given milliseconds, return them as one reads them."""
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"  # noqa: PLR2004 - ms in a second


def diff_rows(before: str | None, after: str | None, place: str) -> Iterator[tuple[str, str]]:
    """Given a memory's texts, None for no file, yield each line of their diff with its kind."""
    for number, line in enumerate(diff(before, after, place)):
        kind = _MARKS.get(line[:1], "same")
        if number < _HEADS or (kind == "place" and number == _HEADS):
            continue
        yield kind, "⋯" if kind == "place" else line
