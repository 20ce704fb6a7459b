"""Reads the values of a case's keys, and says everything that is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, time
from typing import Any

from msgspec import Struct

NOTHING = (None, "", "null", "~", "none", "false")
"""Values that say as much as no key at all."""

Problem = Callable[[str], None]
"""Told what is wrong, a sentence that begins with the key."""

_WHEN = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)?[T ]?(?P<clock>\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?)?"
    r" ?(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?"
)
_NOON = time(12)


class Values:
    """Takes values as YAML or JSON gave them; `failed` once anything was wrong."""

    def __init__(self, problem: Problem, now: datetime) -> None:
        """Tell `problem` what is wrong; a time without a day is on the day of `now`."""
        self._tell = problem
        self.now = now
        self.failed = False

    def known(self, where: str, given: Mapping[Any, object], kind: type[Struct]) -> None:
        """Say of each key that the kind of struct does not have."""
        for key in given:
            if key not in kind.__struct_fields__:
                known = " ".join(kind.__struct_fields__)
                self.problem(f"{where}.{key}".lstrip("."), f"is not a key here; there are: {known}")

    def text(self, where: str, given: Mapping[Any, object], key: str, *, strip: bool = True) -> str:
        """The text of a key; empty where there is none."""
        value = given.get(key)
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float | datetime):
            self.problem(f"{where}.{key}".lstrip("."), "is not text")
            return ""
        return str(value).strip() if strip else str(value)

    def texts(self, where: str, given: Mapping[Any, object], key: str) -> tuple[str, ...]:
        """The texts of a key that has a list or one of them."""
        value = given.get(key)
        if value in NOTHING:
            return ()
        rows = value if isinstance(value, list) else [value]
        if not all(isinstance(row, str | int | float) and not isinstance(row, bool) for row in rows):
            self.problem(f"{where}.{key}".lstrip("."), "is not a list of texts")
            return ()
        return tuple(str(row) for row in rows)

    def patterns(self, where: str, given: Mapping[Any, object], key: str) -> tuple[str, ...]:
        """The regular expressions of a key."""
        found = self.texts(where, given, key)
        for number, pattern in enumerate(found):
            try:
                re.compile(pattern, re.IGNORECASE)
            except re.error as error:
                self.problem(f"{where}.{key}[{number}]", f"is not a regular expression: {error}")
        return found

    def one_of(self, where: str, given: Mapping[Any, object], key: str, allowed: tuple[str, ...]) -> str:
        """The text of a key that is one of these, in small letters."""
        value = self.text(where, given, key).lower()
        if value and value not in allowed:
            self.problem(f"{where}.{key}", f"{value} is not one of {' '.join(allowed)}")
        return value

    def count(self, given: Mapping[Any, object], key: str) -> int | None:
        """The number of a key; None where there is none."""
        value = given.get(key)
        if value in NOTHING:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if isinstance(value, str) and value.isdigit():
            return int(value)
        self.problem(key, "is not a number of memories")
        return None

    def when(self, where: str, value: object) -> datetime | None:
        """A time in ISO 8601; without a zone in that of `now`, without a day on its day."""
        found = _WHEN.fullmatch(str(value).strip())
        if found and (found["day"] or found["clock"]):
            day = found["day"] or f"{self.now:%Y-%m-%d}"
            clock = found["clock"] or f"{_NOON:%H:%M}"
            try:
                when = datetime.fromisoformat(f"{day}T{clock.zfill(len(clock) + (clock[1] == ':'))}")
                zone = (
                    datetime.fromisoformat(f"2000-01-01T00:00{found['zone'].upper()}").tzinfo
                    if found["zone"]
                    else None
                )
            except ValueError:
                pass
            else:
                return when.replace(tzinfo=zone or self.now.tzinfo)
        self.problem(where, f"{value} is not a time: write 2026-11-30T10:45:00Z")
        return None

    def problem(self, where: str, what: str) -> None:
        """Say what is wrong, and remember that something is."""
        self.failed = True
        self._tell(f"{where}: {what}")
