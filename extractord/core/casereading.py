"""Reads a case of the benchmark as YAML or JSON gave it, and says everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

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
    whose,
)
from extractord.core.casevalues import NOTHING, Problem, Values
from extractord.core.records import Origin, Role

_Row = TypeVar("_Row")


def read_case(given: object, default_id: str, problem: Problem) -> Case | None:
    """Given a case as YAML or JSON gave it, return it; None where `problem` was told anything."""
    return _Reader(problem).case(given, default_id)


class _Reader:
    """Takes a case apart, key by key, and says everything that is wrong with it."""

    def __init__(self, problem: Problem) -> None:
        self._values = Values(problem, SOME_NOW)
        self._files: set[str] = set()

    def case(self, given: object, default_id: str) -> Case | None:
        if not isinstance(given, Mapping):
            self._values.problem(
                "the case", "is not a mapping of keys: write `id:`, `kind:`, `entries:` and so on"
            )
            return None
        self._values.known("", given, Case)
        if given.get("now") not in NOTHING:
            self._values.now = self._values.when("now", given["now"]) or SOME_NOW
        heard = tuple(self._entries(given))
        before = tuple(self._each(given, "memories_before", self._before))
        self._files = {each.file for each in before}
        case = Case(
            id=self._values.text("", given, "id") or default_id,
            kind=self._values.text("", given, "kind") or "unsorted",
            project=self._project(given),
            now=self._latest(given, heard),
            language=self._values.text("", given, "language") or "en",
            memories_before=before,
            forgotten_before=tuple(self._each(given, "forgotten_before", self._forgotten)),
            entries=heard,
            transcript=self._values.text("", given, "transcript"),
            agent=self._values.text("", given, "agent"),
            must_keep=tuple(self._each(given, "must_keep", self._must_keep)),
            must_not_keep=tuple(self._each(given, "must_not_keep", self._must_not_keep)),
            max_new=self._values.count(given, "max_new"),
            must_delete=self._values.texts("", given, "must_delete"),
            note=self._values.text("", given, "note"),
        )
        self._fits(given, case)
        return None if self._values.failed else case

    def _fits(self, given: Mapping[Any, object], case: Case) -> None:
        if bool(given.get("entries")) == bool(case.transcript):
            self._values.problem("entries", "or `transcript` says what was said: give one of the two")
        for name in case.must_delete:
            if file_of(name) not in self._files:
                self._values.problem("must_delete", f"{name} is not in memories_before")

    def _project(self, given: Mapping[Any, object]) -> str | None:
        if "project" not in given:
            return ""
        return None if given["project"] in (*NOTHING, False) else self._values.text("", given, "project")

    def _latest(self, given: Mapping[Any, object], heard: tuple[Heard, ...]) -> datetime:
        """The case's now; where none is given, shortly after the last entry."""
        times = [each.time for each in heard if each.time is not None]
        if given.get("now") not in NOTHING or not times:
            return self._values.now
        return max(times) + timedelta(minutes=5)

    def _entries(self, given: Mapping[Any, object]) -> Iterator[Heard]:
        seen: set[str] = set()
        for number, heard in enumerate(self._each(given, "entries", self._heard)):
            entry = heard if heard.id else Heard(**{**_fields(heard), "id": f"entry-{number + 1}"})
            if entry.id in seen:
                self._values.problem(f"entries[{number}].id", f"{entry.id} is the id of an earlier entry")
            seen.add(entry.id)
            yield entry

    def _heard(self, where: str, given: Mapping[Any, object]) -> Heard | None:
        self._values.known(where, given, Heard)
        role, origin = (
            self._values.text(where, given, "role").lower(),
            self._values.text(where, given, "origin").lower(),
        )
        if role not in ("", *Role):
            self._values.problem(f"{where}.role", f"{role} is not one of {' '.join(Role)}")
            return None
        if origin not in ("", TOOL_OUTPUT, *Origin):
            self._values.problem(
                f"{where}.origin", f"{origin} is not one of {' '.join(Origin)} {TOOL_OUTPUT}"
            )
            return None
        found = whose(role, origin)
        if found is None:
            self._values.problem(f"{where}.role", "is missing, and no origin stands for it")
            return None
        tool = self._tool(where, given.get("tool"))
        text = self._values.text(where, given, "text", strip=False)
        if not text.strip() and tool is None:
            self._values.problem(f"{where}.text", "is missing, and there is no tool")
            return None
        when = None if given.get("time") in NOTHING else self._values.when(f"{where}.time", given["time"])
        return Heard(
            id=self._values.text(where, given, "id"),
            role=found[0],
            origin=found[1],
            text=text,
            tool=tool,
            time=when,
        )

    def _tool(self, where: str, given: object) -> ToolUse | None:
        if given in NOTHING:
            return None
        if isinstance(given, str):
            return ToolUse(name=given)
        if not isinstance(given, Mapping):
            self._values.problem(f"{where}.tool", "is not a mapping of `name` and `input`")
            return None
        self._values.known(f"{where}.tool", given, ToolUse)
        name = self._values.text(f"{where}.tool", given, "name")
        if not name:
            self._values.problem(f"{where}.tool.name", "is missing")
            return None
        return ToolUse(name=name, input=given.get("input"))

    def _before(self, where: str, given: Mapping[Any, object]) -> Before | None:
        self._values.known(where, given, Before)
        type_ = self._values.one_of(where, given, "type", TYPES)
        scope = self._values.one_of(where, given, "scope", SCOPES) or _scope_in(
            self._values.text(where, given, "file")
        )
        if not scope:
            scope = "user" if type_ in ("user", "feedback") else "project"
        name = self._values.text(where, given, "name")
        file = file_of(self._values.text(where, given, "file") or name)
        if not file:
            self._values.problem(f"{where}.file", "is missing")
            return None
        body = self._values.text(where, given, "body", strip=False)
        first = next((line for line in body.splitlines() if line.strip()), "")
        description = self._values.text(where, given, "description") or first.strip()
        if not description:
            self._values.problem(f"{where}.description", "is missing, and so is `body`")
            return None
        return Before(
            file=file,
            scope="user" if scope == "user" else "project",
            name=name or file.removesuffix(".md"),
            description=description,
            type=type_ or scope,
            body=body or description,
            trust=self._values.one_of(where, given, "trust", TRUSTS) or "stated",
        )

    def _forgotten(self, where: str, given: Mapping[Any, object]) -> Forgotten | None:
        self._values.known(where, given, Forgotten)
        found = Forgotten(
            name=self._values.text(where, given, "name"),
            description=self._values.text(where, given, "description"),
            evidence_entry=self._values.text(where, given, "evidence_entry"),
        )
        if not found.name and not found.description:
            self._values.problem(f"{where}.name", "is missing, and so is `description`")
            return None
        return found

    def _must_keep(self, where: str, given: Mapping[Any, object]) -> MustKeep | None:
        self._values.known(where, given, MustKeep)
        updates = self._values.text(where, given, "updates")
        patterns = self._values.patterns(where, given, "all_of")
        if not patterns and not updates:
            self._values.problem(f"{where}.all_of", "is missing: name a pattern at least")
            return None
        if updates and file_of(updates) not in self._files:
            self._values.problem(f"{where}.updates", f"{updates} is not in memories_before")
        types = self._values.texts(where, given, "type")
        for each in types:
            if each not in TYPES:
                self._values.problem(f"{where}.type", f"{each} is not one of {' '.join(TYPES)}")
        scope = self._values.one_of(where, given, "scope", (*SCOPES, "either", "any"))
        return MustKeep(
            what=self._values.text(where, given, "what") or " ".join(patterns),
            all_of=patterns,
            type=types,
            scope=next((each for each in SCOPES if each == scope), None),
            updates=file_of(updates),
        )

    def _must_not_keep(self, where: str, given: Mapping[Any, object]) -> MustNotKeep | None:
        self._values.known(where, given, MustNotKeep)
        patterns = self._values.patterns(where, given, "any_of")
        if not patterns:
            self._values.problem(f"{where}.any_of", "is missing: name a pattern at least")
            return None
        return MustNotKeep(
            what=self._values.text(where, given, "what") or " ".join(patterns), any_of=patterns
        )

    def _each(
        self, given: Mapping[Any, object], key: str, read: Callable[[str, Mapping[Any, object]], _Row | None]
    ) -> Iterator[_Row]:
        rows = given.get(key)
        if rows in NOTHING:
            return
        if not isinstance(rows, list):
            self._values.problem(key, "is not a list")
            return
        for number, row in enumerate(rows):
            where = f"{key}[{number}]"
            if not isinstance(row, Mapping):
                self._values.problem(where, "is not a mapping of keys")
                continue
            found = read(where, row)
            if found is not None:
                yield found


def _scope_in(file: str) -> str:
    first = file.removeprefix("/memory/").partition("/")[0]
    return first if first in SCOPES else ""


def _fields(heard: Heard) -> dict[str, Any]:
    return {name: getattr(heard, name) for name in Heard.__struct_fields__}
