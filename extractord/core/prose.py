"""What a person's prompt says in prose, and what of it is a paste."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate

from extractord.core.records import Entry
from extractord.core.words import count_words, has_words

Span = tuple[int, int]

_OPENING_LINES = 16
_MARKS = frozenset(("", " ", "\t", ">", "`", "~"))
"""How a line begins that may be code, a quotation or blank."""
_PASTE_LINES = 5
_PASTE_WORDS = 150

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)\s*\S")
_QUOTED = re.compile(r" {0,3}>")
_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|$)")
_ONLY_LINKS = re.compile(r"\s*(?:[-*]\s+)?(?:<?[a-z][a-z0-9+.-]*+://\S++\s*)+", re.IGNORECASE)
_OPENED = re.compile(r"<(?P<name>[A-Za-z][^\W_]*[-_:][\w:-]*+)(?:\s[^<>]*)?>")
_CLOSED = re.compile(r"</(?P<name>[A-Za-z][\w:-]*)\s*>")
_LOG_LINE = re.compile(
    r"""\s*(?:
      \[?\d{4}[-/]\d\d[-/]\d\d[T\ ]\d\d:\d\d            # a time stamp
    | \[?\d\d:\d\d:\d\d
    | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ [\ \d]\d\ \d\d:\d\d:\d\d
    | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[:\ |]\s*\S
    | (?:npm|yarn|pnpm)\ (?:ERR!|WARN|error|warn)
    | at\ .+[(:]\S{0,200}:\d+\)?\s*$                          # JavaScript, Java
    | File\ ".+",\ line\ \d+
    | (?:\#\d+|\d+:)\s+0x[0-9a-f]+
    | (?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Panic)(?::|$)
    | (?:Caused\ by|thread\ '.*'\ panicked|panic):?\s
    | goroutine\ \d+\ \[
    | \S+\.\w+:\d+(?::\d+)?:\s                          # a compiler
    | (?:[^\s@]{1,64}@[^\s@]{1,64}[:\ ]\S{0,200})?[$%#]\ \S                     # a shell
    | (?:PASS|FAIL|ok)\s+\S+[./]\S+\s*
    | (?=[|~^\s]*+$).*[~^]{2}\s*$                       # what a compiler points with
    )""",
    re.VERBOSE,
)
_TYPED_AT_SHELL = re.compile(r"\s*(?:[^\s@]{1,64}@[^\s@]{1,64}[:\ ]\S{0,200}[$%#]|[$\u276f\u279c])(?:\s|$)")
_TRACE_HEAD = re.compile(r"\s*(?:Traceback \(most recent call last\)|Exception in thread|goroutine \d+ \[)")


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

    Gone are code blocks, `>` lines, marked pastes, logs and stack traces, wrappers (elements whose
    name has a hyphen, colon or underscore), a slash command's line, and lines of nothing but links.
    """
    text = entry.text
    spans = [*entry.pastes, *_quoted(text, _lines(text)), *_wrappers(text)]
    kept = _without(text, _united(spans, len(text))).strip()
    first, newline, rest = kept.partition("\n")
    if _SLASH_COMMAND.match(first):
        kept = rest if newline else ""
    return "\n".join(line for block in _blocks(kept) for line in _spoken(block))


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


def _blocks(text: str) -> Iterator[list[str]]:
    block: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _spoken(block: list[str]) -> Iterator[str]:
    """The lines of a block that are neither log nor links; a block that is half log is a log.

    So is what stands between two commands that were typed at a shell: it is the first one's output.
    """
    for at, line in enumerate(block):
        if _TRACE_HEAD.match(line):
            block = block[:at]
            break
    logged = [bool(_LOG_LINE.match(line)) for line in block]
    if sum(logged) > 1 and 2 * sum(logged) >= len(block):
        return
    typed = [at for at, line in enumerate(block) if _TYPED_AT_SHELL.match(line)]
    output = range(typed[0], typed[-1] + 1) if typed else range(0)
    for at, (line, is_log) in enumerate(zip(block, logged, strict=True)):
        if at not in output and not is_log and not _ONLY_LINKS.fullmatch(line):
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
    return "\n".join([*kept, text[at:]])
