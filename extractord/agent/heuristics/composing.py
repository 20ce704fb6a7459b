"""Makes a memory of a statement, in the words that were said."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

import msgspec
from msgspec import Struct

from extractord.agent.heuristics.stating import Statement
from extractord.agent.languages.language import Kind
from extractord.core.numerals import numbers
from extractord.core.relative_dates import relative_days

NAME_WORDS = 6
NAME_CHARACTERS = 60
UNSPACED_CHARACTERS = 16
DESCRIPTION_CHARACTERS = 180

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_ADDRESS = re.compile(r"https?://\S+")
_CLAUSE = re.compile(r"[,;:\uff0c\u3001\uff1b\uff1a]")
_PLAIN = re.compile(r"[^\W\d_](?:[\w.,/()+%@]|[ '-](?=[\w(]))*")


class Place(Struct, frozen=True):
    """Where a statement's memory belongs, and of what type it is."""

    root: str
    type: str


def place(statement: Statement, *, has_project: bool) -> Place | None:
    """Given a statement, return its place; None where there is none for it."""
    language, fact = statement.language, statement.fact
    kind = statement.kind
    scoped = has_project and language.scoped.search(fact) is not None
    if kind is None:
        kind = Kind.PERSON if language.first_person.search(fact) else Kind.CUSTOM
    match kind:
        case Kind.PERSON:
            return Place("user", "user")
        case Kind.WISH | Kind.LASTING:
            to_agent = language.about_agent.search(fact) is not None
            type_ = "user" if kind is Kind.WISH and not to_agent else "feedback"
            about_project = language.about_project.search(fact) is not None
            if kind is Kind.LASTING and has_project and not to_agent and (scoped or about_project):
                return Place("project", "project")
            if scoped:
                return Place("project", "feedback")
            return Place("user", type_)
        case Kind.PLACE:
            return Place("project", "reference") if has_project else None
        case Kind.CUSTOM | Kind.DEADLINE | Kind.ENDED:
            return Place("project", "project") if has_project else None


def text(statement: Statement, name: str, type_: str) -> str:
    """Given a statement, the memory's name and type, return the memory."""
    fact = _sentence(_dated(statement.fact, statement))
    body = [fact]
    if statement.why:
        body.append(f"**Why:** {_dated(statement.why, statement)}{_end(fact)}")
    if statement.how:
        body.append(f"**How to apply:** {_dated(statement.how, statement)}{_end(fact)}")
    head, *rest = body
    return (
        f"---\nname: {_scalar(name)}\ndescription: {_scalar(headline(statement))}\n"
        f"metadata:\n  type: {type_}\n---\n" + head + "\n" + ("\n" + "\n".join(rest) + "\n" if rest else "")
    )


def headline(statement: Statement) -> str:
    """Given a statement, return its one line for the index."""
    line = " ".join(_dated(statement.fact, statement).split())
    if len(line) > DESCRIPTION_CHARACTERS:
        line = line[:DESCRIPTION_CHARACTERS].rpartition(" ")[0] or line[:DESCRIPTION_CHARACTERS]
    return line[:1].upper() + line[1:]


def name(statement: Statement) -> str:
    """Given a statement, return a name from its words, in its own script, without numbers and addresses."""
    words = _ADDRESS.sub(" ", statement.language.opening.sub("", statement.fact))
    words = unicodedata.normalize("NFKC", words).lower()
    first = _CLAUSE.split(words, maxsplit=1)[0]
    words = first if len(first) > len(words) // 4 else words
    parts = [re.sub(r"['\u2019]", "", part) for part in _WORD.findall(words)]
    if _UNSPACED.search(words):
        own = (part for part in parts if _UNSPACED.search(part))
        found = re.sub(r"\d", "", "-".join(own))[:UNSPACED_CHARACTERS].strip("-")
    else:
        kept = [part for part in parts if not numbers(part)][:NAME_WORDS]
        while len(kept) > 2 and len(kept[-1]) <= 3:  # noqa: PLR2004 - a small word says nothing last
            kept.pop()
        found = "-".join(kept)[:NAME_CHARACTERS].strip("-")
    kind = statement.kind.value if statement.kind else "fact"
    return found if len(found.split("-")) > 1 or _UNSPACED.search(found) else f"{kind}-{found}".strip("-")


def datable(statement: Statement) -> bool:
    """True if a deadline's relative date can be made absolute, or it has none to make so."""
    return (
        statement.kind is not Kind.DEADLINE
        or statement.said.day is not None
        or _RELATIVE.search(statement.fact) is None
    )


_RELATIVE = re.compile(
    r"\b(?:(?:next|this|coming)\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?!s)|\btomorrow\b"
    r"|\b(?:(?:n\u00e4chste[nrm]?|kommende[nrm]?)\s+)?(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b(?!s)"
    r"|\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b(?:\s+prochain)?(?!s)"
    r"|\b(?:pr\u00f3ximo\s+)?(?:lunes|martes|mi\u00e9rcoles|jueves|viernes|s\u00e1bado|domingo)\b|\bmorgen\b|\bdemain\b|\bma\u00f1ana\b"
    r"|(?:\u4e0b|\u8fd9|\u672c)?(?:\u5468|\u661f\u671f)[\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u65e5\u5929]|\u660e\u5929|\u540e\u5929"
    r"|(?:\u6765\u9031\u306e?|\u4eca\u9031\u306e?|\u6b21\u306e)?[\u6708\u706b\u6c34\u6728\u91d1\u571f\u65e5]\u66dc\u65e5?|\u660e\u65e5|\u660e\u5f8c\u65e5"
    r"|\bin (?:\d{1,3}|a|two|three|four|five|six) (?:days?|weeks?)\b",
    re.IGNORECASE,
)


def _dated(words: str, statement: Statement) -> str:
    """The words of a deadline, with the date that a relative one means from the day it was said."""
    if statement.kind is not Kind.DEADLINE or statement.said.day is None:
        return words
    on = statement.said.day
    return _RELATIVE.sub(lambda found: _absolute(found[0], on), words)


def _absolute(words: str, on: date) -> str:
    ahead = sorted(day for day in relative_days(words, on) if day > on)
    return ahead[0].isoformat() if ahead else words


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + _end(words)


def _end(words: str) -> str:
    return "\u3002" if _UNSPACED.search(words) else "."


def _scalar(words: str) -> str:
    """The words on one line, quoted where plain YAML could take them for something else."""
    return words if _PLAIN.fullmatch(words) else msgspec.json.encode(words).decode()
