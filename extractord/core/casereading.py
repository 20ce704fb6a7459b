"""Reads a case of the benchmark as YAML or JSON gave it, and says everything that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, time, timedelta
from typing import Any, TypeVar

from msgspec import Struct

from extractord.core.cases import (
    SCOPES,
    SOME_NOW,
    TOOL_OUTPUT,
    TRUSTS,
    TYPES,
    Before,
    Case,
    Forgotten,
    Heard,
    MustKeep,
    MustNotKeep,
    ToolUse,
    file_of,
)
from extractord.core.records import Origin, Role

_NOTHING = (None, "", "null", "~", "none", "false")
_WHEN = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)?[T ]?(?P<clock>\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?)?"
    r" ?(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?"
)
_NOON = time(12)
_Row = TypeVar("_Row")

Problem = Callable[[str], None]
"""Told what is wrong, a sentence that begins with the key."""


def read_case(given: object, default_id: str, problem: Problem) -> Case | None:
    """Given a case as YAML or JSON gave it, return it; None where `problem` was told anything."""
    return _Reader(problem).case(given, default_id)


class _Reader:
    """Takes a case apart, key by key, and says everything that is wrong with it."""

    def __init__(self, problem: Problem) -> None:
        self._tell = problem
        self._now = SOME_NOW
        self._files: set[str] = set()
        self.failed = False

    def case(self, given: object, default_id: str) -> Case | None:
        if not isinstance(given, Mapping):
            self._problem("the case", "is no mapping of keys: write `id:`, `kind:`, `entries:` and so on")
            return None
        self._known("", given, Case)
        if given.get("now") not in _NOTHING:
            self._now = self._when("now", given["now"]) or SOME_NOW
        heard = tuple(self._entries(given))
        before = tuple(self._each(given, "memories_before", self._before))
        self._files = {each.file for each in before}
        case = Case(
            id=self._text("", given, "id") or default_id,
            kind=self._text("", given, "kind") or "unsorted",
            project=self._project(given),
            now=self._latest(given, heard),
            language=self._text("", given, "language") or "en",
            memories_before=before,
            forgotten_before=tuple(self._each(given, "forgotten_before", self._forgotten)),
            entries=heard,
            transcript=self._text("", given, "transcript"),
            agent=self._text("", given, "agent"),
            must_keep=tuple(self._each(given, "must_keep", self._must_keep)),
            must_not_keep=tuple(self._each(given, "must_not_keep", self._must_not_keep)),
            max_new=self._count(given, "max_new"),
            must_delete=self._texts("", given, "must_delete"),
            note=self._text("", given, "note"),
        )
        self._fits(given, case)
        return None if self.failed else case

    def _fits(self, given: Mapping[Any, object], case: Case) -> None:
        if bool(given.get("entries")) == bool(case.transcript):
            self._problem("entries", "or `transcript` says what was said: give one of the two")
        for name in case.must_delete:
            if file_of(name) not in self._files:
                self._problem("must_delete", f"{name} is not in memories_before")

    def _project(self, given: Mapping[Any, object]) -> str | None:
        if "project" not in given:
            return ""
        return None if given["project"] in (*_NOTHING, False) else self._text("", given, "project")

    def _latest(self, given: Mapping[Any, object], heard: tuple[Heard, ...]) -> datetime:
        """The case's now; where none is given, shortly after the last entry."""
        times = [each.time for each in heard if each.time is not None]
        if given.get("now") not in _NOTHING or not times:
            return self._now
        return max(times) + timedelta(minutes=5)

    def _entries(self, given: Mapping[Any, object]) -> Iterator[Heard]:
        seen: set[str] = set()
        for number, heard in enumerate(self._each(given, "entries", self._heard)):
            entry = heard if heard.id else Heard(**{**_fields(heard), "id": f"entry-{number + 1}"})
            if entry.id in seen:
                self._problem(f"entries[{number}].id", f"{entry.id} is the id of an earlier entry")
            seen.add(entry.id)
            yield entry

    def _heard(self, where: str, given: Mapping[Any, object]) -> Heard | None:
        self._known(where, given, Heard)
        role, origin = self._text(where, given, "role").lower(), self._text(where, given, "origin").lower()
        if role not in ("", *Role):
            self._problem(f"{where}.role", f"{role} is none of {' '.join(Role)}")
            return None
        if origin not in ("", TOOL_OUTPUT, *Origin):
            self._problem(f"{where}.origin", f"{origin} is none of {' '.join(Origin)} {TOOL_OUTPUT}")
            return None
        found = _whose(role, origin)
        if found is None:
            self._problem(f"{where}.role", "is missing, and no origin stands for it")
            return None
        tool = self._tool(where, given.get("tool"))
        text = self._text(where, given, "text", strip=False)
        if not text.strip() and tool is None:
            self._problem(f"{where}.text", "is missing, and there is no tool")
            return None
        when = None if given.get("time") in _NOTHING else self._when(f"{where}.time", given["time"])
        return Heard(
            id=self._text(where, given, "id"), role=found[0], origin=found[1], text=text, tool=tool, time=when
        )

    def _tool(self, where: str, given: object) -> ToolUse | None:
        if given in _NOTHING:
            return None
        if isinstance(given, str):
            return ToolUse(name=given)
        if not isinstance(given, Mapping):
            self._problem(f"{where}.tool", "is no mapping of `name` and `input`")
            return None
        self._known(f"{where}.tool", given, ToolUse)
        name = self._text(f"{where}.tool", given, "name")
        if not name:
            self._problem(f"{where}.tool.name", "is missing")
            return None
        return ToolUse(name=name, input=given.get("input"))

    def _before(self, where: str, given: Mapping[Any, object]) -> Before | None:
        self._known(where, given, Before)
        type_ = self._one_of(where, given, "type", TYPES)
        scope = self._one_of(where, given, "scope", SCOPES) or _scope_in(self._text(where, given, "file"))
        if not scope:
            scope = "user" if type_ in ("user", "feedback") else "project"
        name = self._text(where, given, "name")
        file = file_of(self._text(where, given, "file") or name)
        if not file:
            self._problem(f"{where}.file", "is missing")
            return None
        body = self._text(where, given, "body", strip=False)
        first = next((line for line in body.splitlines() if line.strip()), "")
        description = self._text(where, given, "description") or first.strip()
        if not description:
            self._problem(f"{where}.description", "is missing, and so is `body`")
            return None
        return Before(
            file=file,
            scope="user" if scope == "user" else "project",
            name=name or file.removesuffix(".md"),
            description=description,
            type=type_ or scope,
            body=body or description,
            trust=self._one_of(where, given, "trust", TRUSTS) or "stated",
        )

    def _forgotten(self, where: str, given: Mapping[Any, object]) -> Forgotten | None:
        self._known(where, given, Forgotten)
        found = Forgotten(
            name=self._text(where, given, "name"),
            description=self._text(where, given, "description"),
            evidence_entry=self._text(where, given, "evidence_entry"),
        )
        if not found.name and not found.description:
            self._problem(f"{where}.name", "is missing, and so is `description`")
            return None
        return found

    def _must_keep(self, where: str, given: Mapping[Any, object]) -> MustKeep | None:
        self._known(where, given, MustKeep)
        updates = self._text(where, given, "updates")
        patterns = self._patterns(where, given, "all_of")
        if not patterns and not updates:
            self._problem(f"{where}.all_of", "is missing: name a pattern at least")
            return None
        if updates and file_of(updates) not in self._files:
            self._problem(f"{where}.updates", f"{updates} is not in memories_before")
        types = self._texts(where, given, "type")
        for each in types:
            if each not in TYPES:
                self._problem(f"{where}.type", f"{each} is none of {' '.join(TYPES)}")
        scope = self._one_of(where, given, "scope", (*SCOPES, "either", "any"))
        return MustKeep(
            what=self._text(where, given, "what") or " ".join(patterns),
            all_of=patterns,
            type=types,
            scope=next((each for each in SCOPES if each == scope), None),
            updates=file_of(updates),
        )

    def _must_not_keep(self, where: str, given: Mapping[Any, object]) -> MustNotKeep | None:
        self._known(where, given, MustNotKeep)
        patterns = self._patterns(where, given, "any_of")
        if not patterns:
            self._problem(f"{where}.any_of", "is missing: name a pattern at least")
            return None
        return MustNotKeep(what=self._text(where, given, "what") or " ".join(patterns), any_of=patterns)

    def _each(
        self, given: Mapping[Any, object], key: str, read: Callable[[str, Mapping[Any, object]], _Row | None]
    ) -> Iterator[_Row]:
        rows = given.get(key)
        if rows in _NOTHING:
            return
        if not isinstance(rows, list):
            self._problem(key, "is no list")
            return
        for number, row in enumerate(rows):
            where = f"{key}[{number}]"
            if not isinstance(row, Mapping):
                self._problem(where, "is no mapping of keys")
                continue
            found = read(where, row)
            if found is not None:
                yield found

    def _known(self, where: str, given: Mapping[Any, object], kind: type[Struct]) -> None:
        for key in given:
            if key not in kind.__struct_fields__:
                known = " ".join(kind.__struct_fields__)
                self._problem(f"{where}.{key}".lstrip("."), f"is no key here; there are: {known}")

    def _text(self, where: str, given: Mapping[Any, object], key: str, *, strip: bool = True) -> str:
        value = given.get(key)
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float | datetime):
            self._problem(f"{where}.{key}".lstrip("."), "is no text")
            return ""
        return str(value).strip() if strip else str(value)

    def _texts(self, where: str, given: Mapping[Any, object], key: str) -> tuple[str, ...]:
        value = given.get(key)
        if value in _NOTHING:
            return ()
        rows = value if isinstance(value, list) else [value]
        if not all(isinstance(row, str | int | float) and not isinstance(row, bool) for row in rows):
            self._problem(f"{where}.{key}".lstrip("."), "is no list of texts")
            return ()
        return tuple(str(row) for row in rows)

    def _patterns(self, where: str, given: Mapping[Any, object], key: str) -> tuple[str, ...]:
        found = self._texts(where, given, key)
        for number, pattern in enumerate(found):
            try:
                re.compile(pattern, re.IGNORECASE)
            except re.error as error:
                self._problem(f"{where}.{key}[{number}]", f"is no regular expression: {error}")
        return found

    def _one_of(self, where: str, given: Mapping[Any, object], key: str, allowed: tuple[str, ...]) -> str:
        value = self._text(where, given, key).lower()
        if value and value not in allowed:
            self._problem(f"{where}.{key}", f"{value} is none of {' '.join(allowed)}")
        return value

    def _count(self, given: Mapping[Any, object], key: str) -> int | None:
        value = given.get(key)
        if value in _NOTHING:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if isinstance(value, str) and value.isdigit():
            return int(value)
        self._problem(key, "is no number of memories")
        return None

    def _when(self, where: str, value: object) -> datetime | None:
        """A time in ISO 8601; without a zone in that of `now`, without a day on its day."""
        found = _WHEN.fullmatch(str(value).strip())
        if found and (found["day"] or found["clock"]):
            day = found["day"] or f"{self._now:%Y-%m-%d}"
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
                return when.replace(tzinfo=zone or self._now.tzinfo)
        self._problem(where, f"{value} is no time: write 2026-11-30T10:45:00Z")
        return None

    def _problem(self, where: str, what: str) -> None:
        self.failed = True
        self._tell(f"{where}: {what}")


def _scope_in(file: str) -> str:
    first = file.removeprefix("/memory/").partition("/")[0]
    return first if first in SCOPES else ""


def _whose(role: str, origin: str) -> tuple[Role, Origin] | None:
    """Role and origin where one may stand for the other; None where neither is given."""
    if not role and not origin:
        return None
    if origin == TOOL_OUTPUT or (role == Role.TOOL and origin in ("", Origin.SYNTHETIC)):
        return Role.TOOL, Origin.SYNTHETIC
    if not role:
        prompts = (Origin.HUMAN, Origin.HEADLESS, Origin.COPIED)
        role = Role.USER if origin in prompts else Role.ASSISTANT
    if not origin:
        origin = Origin.HUMAN if role == Role.USER else Origin.SYNTHETIC
    return Role(role), Origin(origin)


def _fields(heard: Heard) -> dict[str, Any]:
    return {name: getattr(heard, name) for name in Heard.__struct_fields__}
