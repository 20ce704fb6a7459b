"""Dates as they are written, in any notation of six languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from extractord.core.folding import fold

Day = tuple[int | None, int, int | None]
"""Year, month, day; the year is None where it is not written, the day for a whole month."""

_MONTHS = (
    "january jan januar janner janvier janv enero ene",
    "february feb februar fevrier fevr febrero",
    "march mar marz mrz mars marzo",
    "april apr avril avr abril abr",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug aout agosto ago",
    "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez decembre diciembre dic",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
"""Month names, folded."""

_MONTH = "(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?P<year>\d{4})"
_DAY = r"(?P<day>\d{1,2})"
_DIGIT = re.compile(r"\d")
_CENTURY = 2000
_MONTHS_A_YEAR = 12


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a folded text: where it stands, and every day that it can mean."""

    start: int
    end: int
    days: frozenset[Day]


def _named(match: re.Match[str]) -> Iterator[Day]:
    groups = match.groupdict()
    year, day = groups.get("year"), groups.get("day")
    month = groups["month"]
    yield (
        int(year) if year else None,
        int(month) if month.isdigit() else MONTHS[month],
        int(day) if day else None,
    )


def _numeric(match: re.Match[str]) -> Iterator[Day]:
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if len(match["year"]) < len("2026"):
        year += _CENTURY
    yield year, second, first
    if match["mark"] != ".":
        yield year, first, second


_NOTATIONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[Day]]], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (rf"(?<![\d.-]){_YEAR}(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark){_DAY}(?!\d)", _named),
        (rf"(?<!\d)(?:{_YEAR}\s?年\s?)?(?P<month>\d{{1,2}})\s?月(?:\s?{_DAY}\s?[日号號])?", _named),
        (
            r"(?<![\d./-])(?P<first>\d{1,2})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})(?![\d.])",
            _numeric,
        ),
        (
            rf"(?<![\d.]){_DAY}(?:st|nd|rd|th|er|\.|o)?\s+(?:of\s+|de\s+)?{_MONTH}(?:,?\s+(?:de\s+|del\s+)?{_YEAR}\b)?",
            _named,
        ),
        (rf"\b{_MONTH}\s+{_DAY}(?:st|nd|rd|th)?\b(?!:)(?:,?\s+{_YEAR}\b)?", _named),
        (rf"\b{_MONTH}\s+(?:de\s+)?{_YEAR}\b", _named),
        (r"(?<![\d.])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.(?!\d)", _named),
    )
)


def written_dates(text: str) -> tuple[WrittenDate, ...]:
    """Given a folded text, return the dates in it, in order, apart from one another."""
    found: list[WrittenDate] = []
    if not _DIGIT.search(text):
        return ()
    taken: set[int] = set()
    for pattern, read in _NOTATIONS:
        for match in pattern.finditer(text):
            days = frozenset(day for day in read(match) if _is_day(day))
            if days and not taken.intersection(range(*match.span())):
                taken.update(range(*match.span()))
                found.append(WrittenDate(*match.span(), days))
    return tuple(sorted(found, key=lambda written: written.start))


def days_said(text: str, on: date | None) -> frozenset[Day]:
    """Given a text and when it was said, return what its written dates stand for.

    A date without a year gets the last and the next year that it can mean from then; where
    nobody knows when that was, it stays without.
    """
    folded = fold(text)
    said: set[Day] = set()
    for written in written_dates(folded):
        for day in written.days:
            said |= _with_years(day, on)
    for word in re.findall(r"[^\W\d_]+", folded):
        if word in MONTHS:
            said |= _with_years((None, MONTHS[word], None), on)
    return frozenset(said)


def is_said(wanted: Day, said: Iterable[Day]) -> bool:
    """True if a date is among those said, or is a coarser view of one of them."""
    year, month, day = wanted
    return any(
        (year is None or other[0] is None or year == other[0])
        and month == other[1]
        and (day is None or day == other[2])
        for other in said
    )


def _with_years(day: Day, on: date | None) -> set[Day]:
    year, month, of_month = day
    if year is not None or on is None:
        return {day}
    passed = (month, of_month or 1) <= (on.month, on.day)
    return {(on.year, month, of_month), (on.year + 1 if passed else on.year - 1, month, of_month)}


def _is_day(day: Day) -> bool:
    year, month, of_month = day
    if year == 0 or not 1 <= month <= _MONTHS_A_YEAR:
        return False
    try:
        date(year or _CENTURY, month, of_month or 1)
    except ValueError:
        return False
    return of_month != 0
