"""What another store of memories holds, as facts of ours: files, lists, sections, strings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import yaml
from msgspec import Struct

from extractord.core.index import one_line
from extractord.core.memory import Malformed, parse, unstamp
from extractord.core.survey import stem
from extractord.policy.requests import RootKind

Shape = Literal["file", "list", "sections", "strings"]

DESCRIPTION_CHARS = 180
_NAME_WORDS, _NAME_CHARS = 7, 60
_WORD = re.compile(r"[^\W_]+")
_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+(?P<title>.*[^ \t#\n])[ \t#]*$")
_BULLET = re.compile(r"[-*+][ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_ADDED = re.compile(r"(?m)^## .*\bAdded Memories[ \t]*$")
_TYPES = {
    RootKind.USER: ("user", "feedback"),
    RootKind.PROJECT: ("project", "reference", "feedback"),
}
"""By kind of root, what may stand in it; the first is for a fact that has no type, or another root's."""


class Taken(Struct, frozen=True, kw_only=True):
    """A fact of another store."""

    name: str
    description: str
    body: str
    type: str = ""
    source: str
    """The file that it is from, and what of it, for a person."""


def taken(shape: Shape, text: str, source: str) -> Iterator[Taken]:
    """Given a file of another store, yield its facts. Raise ValueError where it cannot be understood."""
    match shape:
        case "file":
            found = _of_file(text, source)
            if found is not None:
                yield found
        case "sections":
            yield from _of_sections(text, source)
        case "list":
            for number, words in enumerate(_items(_added(text)), 1):
                yield _of_words(words, f"{source}, entry {number}")
        case "strings":
            for number, words in enumerate(_strings(text), 1):
                yield _of_words(words, f"{source}, entry {number}")


def composed(fact: Taken, kind: RootKind) -> str:
    """Given a fact and the kind of root that it comes into, return the memory's text."""
    types = _TYPES[kind]
    front = {"name": fact.name, "description": fact.description}
    header = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=10_000)
    type_ = fact.type if fact.type in types else types[0]
    return f"---\n{header}metadata:\n  type: {type_}\n---\n{fact.body.strip()}\n"


def named(words: str) -> str:
    """Given words, return a name of the first of them that any file can have."""
    name = ""
    for word in _WORD.findall(words.casefold())[:_NAME_WORDS]:
        if len(name) + len(word) >= _NAME_CHARS:
            break
        name = f"{name}-{word}" if name else word
    return name or "fact"


def _of_file(text: str, source: str) -> Taken | None:
    memory = parse(unstamp(text))
    if isinstance(memory, Malformed):
        raise ValueError(memory.reason)  # noqa: TRY004 - the text is wrong, not its type
    body = memory.body.strip()
    if not (body or memory.description):
        return None
    title = memory.name or memory.heading or stem(source)
    return Taken(
        name=memory.name or named(title),
        description=_described(memory.description or _first(body) or title),
        body=body or memory.description,
        type=memory.type,
        source=source,
    )


def _of_sections(text: str, source: str) -> Iterator[Taken]:
    """A fact for each heading that has words of its own below it."""
    starts = list(_HEADING.finditer(text))
    for at, found in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        body = text[found.end() : end].strip()
        if body:
            title = found["title"].strip()
            yield Taken(
                name=named(title),
                description=_described(f"{title}: {_first(body)}"),
                body=body,
                source=f"{source}, {title}",
            )
    if not starts and text.strip():
        yield _of_words(text, source)


def _of_words(words: str, source: str) -> Taken:
    return Taken(name=named(words), description=_described(words), body=words.strip(), source=source)


def _added(text: str) -> str:
    """What an agent added to a person's own file, below its heading; the whole where there is none."""
    found = _ADDED.search(text)
    if found is None:
        return text
    after = re.search(r"(?m)^##? ", text[found.end() :])
    return text[found.end() :][: after.start() if after else None]


def has_added(text: str) -> bool:
    """True if an agent added memories to this file, below a heading of its own."""
    return _ADDED.search(text) is not None


def _items(text: str) -> Iterator[str]:
    """The entries of a list, with the lines that belong to each; paragraphs where there is no list."""
    lines = [line for line in text.split("\n") if not _HEADING.match(line)]
    if not any(_BULLET.match(line) for line in lines):
        yield from (part.strip() for part in re.split(r"\n\s*\n", "\n".join(lines)) if part.strip())
        return
    item: list[str] = []
    for line in [*lines, "- end"]:
        bullet = _BULLET.match(line)
        if bullet:
            if item:
                yield "\n".join(item).strip()
            item = [line[bullet.end() :]]
        elif item:
            item.append(line)


def _strings(text: str) -> Sequence[str]:
    try:
        return [words for words in msgspec.json.decode(text, type=list[str]) if words.strip()]
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(f"it is not a list of texts in JSON ({error})") from error


def _first(body: str) -> str:
    return next((line.strip("#->* \t") for line in body.split("\n") if line.strip("#->* \t")), "")


def _described(words: str) -> str:
    folded = one_line(words)
    return folded if len(folded) <= DESCRIPTION_CHARS else folded[: DESCRIPTION_CHARS - 1].rstrip() + "…"
