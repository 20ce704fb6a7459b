"""The index of a root, derived from its memories, with people's lines left as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote

from msgspec import Struct

HOOK_CHARS = 300
"""A longer hook or title is cut, and ends in `…`."""

_ENTRY = re.compile(
    r"[ \t]*[-*+][ \t]+\[(?:\\.|[^\]\\])*\]"
    r"\((?P<target><[^<>\n]*>|(?:\\.|[^()\\\s]|\([^()\\\s]*\))*)\).*"
)
_BRACKET = re.compile(r"[\\\[\]]")
_UNPLAIN = re.compile(r"[\s()]")
_MARK = "<!-- unreadable:"
_ENCODED = re.compile(r"[%<>\\\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


class Listed(Struct, frozen=True):
    """A memory as the index names it."""

    path: str
    title: str
    hook: str = ""
    fault: str = ""
    """Why the file cannot be read; its line is kept and marked, none is added."""


def nothing_before(_path: str) -> Iterable[Listed]:
    """No memory was ever said otherwise."""
    return ()


def derive(
    current: str,
    memories: Sequence[Listed],
    before: Callable[[str], Iterable[Listed]] = nothing_before,
) -> str:
    """Given the index as it stands and the root's memories, return the index as it ought to be.

    Lines that are no entries stay, and people's wording and order of entries; a missing entry is
    added, in the order of `memories`, after the last one; one without a file is dropped. `before`
    gives a path's memory as it ever was: a line that says just that is ours, and is brought up to
    date. Line ends, and a missing newline at the end, are those of the text.
    """
    eol = "\r\n" if "\r\n" in current else "\n"
    by_path = {memory.path: memory for memory in memories}
    missing = dict.fromkeys(memory.path for memory in memories if not memory.fault)
    wanted = {line(memory): memory.path for memory in memories if not memory.fault}
    kept: list[str] = []
    at = 0
    for raw in re.findall(r"[^\n]*\n|[^\n]+", current):
        text = raw.rstrip("\r\n")
        path = wanted.get(text)
        if path is not None:
            missing.pop(path, None)
            kept.append(raw)
            at = len(kept)
            continue
        path = target(text, by_path)
        if path == "":
            kept.append(raw)
        elif path is not None:
            missing.pop(path, None)
            kept.append(_renewed(text, by_path[path], before) + raw[len(text) :])
            at = len(kept)
    at = at or len(kept)
    added = [line(by_path[path]) + eol for path in missing]
    if added and at and not kept[at - 1].endswith("\n"):
        kept[at - 1] += eol
        added[-1] = added[-1].removesuffix(eol)
    return "".join([*kept[:at], *added, *kept[at:]])


@lru_cache(maxsize=2**15)
def line(memory: Listed) -> str:
    """Given a memory, return its entry, `- [Title](file.md) — hook`, on one line."""
    title = _BRACKET.sub(r"\\\g<0>", one_line(memory.title) or one_line(memory.path))
    place = _ENCODED.sub(lambda found: "".join(f"%{byte:02X}" for byte in _bytes(found[0])), memory.path)
    if _UNPLAIN.search(place):
        place = f"<{place}>"
    hook = one_line(memory.hook)
    return f"- [{title}]({place})" + (f" — {hook}" if hook else "")


def target(text: str, paths: Collection[str]) -> str | None:
    """Given a line, return the path of the memory that it names.

    That is the empty string where the line is no entry, None where it is one without its memory.
    Links elsewhere (a scheme, an absolute path, `..`) and to other than Markdown are no entries.
    """
    found = _ENTRY.fullmatch(text)
    if found is None:
        return ""
    place = found["target"]
    place = place[1:-1] if place.startswith("<") else re.sub(r"\\(.)", r"\1", place)
    place = place.removeprefix("./")
    for candidate in dict.fromkeys((place, unquote(place), unquote(place.partition("#")[0]))):
        if candidate in paths:
            return candidate
    plain = unquote(place.partition("#")[0])
    elsewhere = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|/", plain) or ".." in plain.split("/")
    return "" if elsewhere or not plain.endswith(".md") else None


def one_line(text: str) -> str:
    """Given any text, return it on one line, at most `HOOK_CHARS` long, without controls."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    folded = " ".join(text.split())
    return folded if len(folded) <= HOOK_CHARS else folded[: HOOK_CHARS - 1].rstrip() + "…"


def _bytes(char: str) -> bytes:
    return char.encode("utf-8", "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass")


def _renewed(text: str, memory: Listed, before: Callable[[str], Iterable[Listed]]) -> str:
    """An entry's line, brought up to date where it is ours, marked where its file is bad."""
    marked = text.find(_MARK) if text.endswith("-->") else -1
    bare = text if marked < 0 else text[:marked].rstrip()
    if memory.fault:
        fault = one_line(memory.fault).replace("--", "- -")
        return f"{bare} {_MARK} {fault} -->"
    wanted = line(memory)
    if bare == wanted or any(bare == line(was) for was in before(memory.path)):
        return wanted
    return bare
