"""What a person's prompt says in prose, and what of it is a paste."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate

from extractord.core.copied import LEFT_OUT, copied
from extractord.core.records import Entry
from extractord.core.words import count_words, has_words

Span = tuple[int, int]

_OPENING_LINES = 16
_MARKS = frozenset(("", " ", "\t", ">", "`", "~"))
"""How a line begins that may be code, a quotation or blank."""
_LEADING = f" \t\r\n{LEFT_OUT}"
_PASTE_LINES = 5
_PASTE_WORDS = 150

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)\s*\S")
_QUOTED = re.compile(r" {0,3}>")
_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|$)")
_ONLY_LINKS = re.compile(r"\s*(?:[-*]\s+)?(?:<?[a-z][a-z0-9+.-]*+://\S++\s*)+", re.IGNORECASE)
_OPENED = re.compile(r"<(?P<name>[A-Za-z][^\W_]*[-_:][\w:-]*+)(?:\s[^<>]*)?>")
_CLOSED = re.compile(r"</(?P<name>[A-Za-z][\w:-]*)\s*>")


def pasted(text: str, marked_spans: Iterable[Span] = ()) -> tuple[Span, ...]:
    """Given a prompt and what its record marks as pasted, return its pastes.

    They are the marked spans, fenced and indented blocks, `>` lines, and after the first paragraph
    any block of 5 lines or 150 words (DESIGN §5). Spans are offsets into `text`, ascending, apart
    from one another.
    """
    lines = _lines(text)
    quoted = list(_quoted(text, lines))
    return _united([*marked_spans, *quoted, *_long_blocks(text, lines, quoted)], len(text))


def prose(entry: Entry) -> str:
    """Given a prompt, return what is left of it as a person's own prose.

    Gone are code blocks, `>` lines, marked pastes, what was copied from a log, a terminal, a chat, a
    mail or a review, wrappers (elements whose name has a hyphen, colon or underscore), a slash
    command's line, and lines of nothing but links.
    """
    text = entry.text
    spans = [*entry.pastes, *_quoted(text, _lines(text)), *_wrappers(text)]
    kept = _without(text, _united(spans, len(text))).strip().lstrip(_LEADING)
    first, newline, rest = kept.partition("\n")
    if _SLASH_COMMAND.match(first):
        kept = rest if newline else ""
    return "\n".join(_spoken(kept.split("\n"))).strip()


def speaks(entry: Entry, words: int) -> bool:
    """Given a prompt, return True if its prose has at least so many words.

    Mostly its first block settles that: nothing but a wrapper takes its words back. Where there is
    nothing but that block, it always does.
    """
    text = entry.text
    if not entry.pastes and "<" not in text and not text.startswith("/"):
        block, is_all = _opening(text)
        is_said = has_words("\n".join(_spoken(block)), words)
        if is_said or is_all:
            return is_said
    return has_words(prose(entry), words)


def is_link(line: str) -> bool:
    """True if a line is nothing but addresses."""
    return _ONLY_LINKS.fullmatch(line) is not None


def _opening(text: str) -> tuple[list[str], bool]:
    """The first lines of a text up to what is surely blank or no prose; True if that is all of it.

    None where that is far.
    """
    lines = text.split("\n", _OPENING_LINES)
    for at, line in enumerate(lines):
        if line[:1] in _MARKS:
            ends = not line.strip() or _INDENTED.match(line) or _QUOTED.match(line) or _FENCE.match(line)
            return (lines[:at] if ends else []), False
    return (lines, True) if len(lines) <= _OPENING_LINES else ([], False)


def _lines(text: str) -> list[Span]:
    """Offsets of each line, its newline included; only a line feed ends a line."""
    ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
    return list(zip([0, *ends[:-1]], [min(end, len(text)) for end in ends], strict=True))


def _quoted(text: str, lines: list[Span]) -> Iterator[Span]:
    """Fenced blocks, an open one to the end; indented blocks; `>` lines."""
    fence: str | None = None
    opened = 0
    spoken = len(lines) == 1 or not _INDENTED.match(text.split("\n", 2)[1] if "\n" in text else "")
    for start, end in lines:
        mark = _FENCE.match(text, start, end)
        if fence is not None:
            if mark and mark["fence"].startswith(fence) and not text[mark.end() : end].strip():
                yield opened, end
                fence = None
        elif mark:
            fence, opened = mark["fence"], start
        elif _QUOTED.match(text, start, end) or (
            _INDENTED.match(text, start, end) and not (spoken and start == 0)
        ):
            yield start, end
    if fence is not None:
        yield opened, len(text)


def _long_blocks(text: str, lines: list[Span], quoted: list[Span]) -> Iterator[Span]:
    """Blocks of lines between blank ones, the first of the text left out, that nobody types."""
    inside = {start for start, _ in quoted}
    block: list[Span] = []
    first = True
    for start, end in [*lines, (len(text), len(text))]:
        if text[start:end].strip() and start not in inside:
            block.append((start, end))
        elif block:
            span = block[0][0], block[-1][1]
            if not first and (len(block) >= _PASTE_LINES or count_words(text[slice(*span)]) >= _PASTE_WORDS):
                yield span
            block, first = [], False


def _wrappers(text: str) -> Iterator[Span]:
    """Elements that a harness puts around what is not the person's, outermost ones."""
    closers: dict[str, list[Span]] = {}
    for closer in _CLOSED.finditer(text):
        closers.setdefault(closer["name"], []).append(closer.span())
    done = 0
    for opener in _OPENED.finditer(text):
        spans = closers.get(opener["name"])
        if spans is None or opener.start() < done:
            continue
        at = bisect_left(spans, (opener.end(), 0))
        if at < len(spans):
            done = spans[at][1]
            yield opener.start(), done


def _spoken(lines: list[str]) -> Iterator[str]:
    """The lines that are neither somebody else's, nor links, nor blank."""
    for line, is_copied in zip(lines, copied(lines), strict=True):
        if line.strip() and not is_copied and not is_link(line):
            yield line


def _united(spans: Iterable[Span], length: int) -> tuple[Span, ...]:
    united: list[Span] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if start >= end:
            continue
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    return tuple(united)


def _without(text: str, spans: tuple[Span, ...]) -> str:
    kept, at = [], 0
    for start, end in spans:
        kept.append(text[at:start])
        at = end
    return f"\n{LEFT_OUT}\n".join([*kept, text[at:]])
