"""Which lines of a prompt were copied from a log, a terminal, a chat, a mail or a review."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from extractord.core.shapes import LABEL, LABELLED, LOG_LINE, TRACE_HEAD, Shape, shape_of
from extractord.core.words import has_words

LEFT_OUT = "\ufffc"
"""A line that stands for a paste which was taken out."""

_SAID_PLAINLY = re.compile(r"(?![A-Za-z]{2,12}(?: \w{2,12})?:\s)[^\W_].*[^,:{(\[=]$")
_GOES_ON = (":", ",", "\\", "{", "(", "[")
_PROSE_WORDS = 3
_PLAIN_SHARE = 0.85
_LEAST_TURNS = 2
_BETWEEN = (frozenset((Shape.LINE,)), frozenset((Shape.COMMAND, Shape.PRINT, Shape.PROMPT)))
"""Shapes that have between them what is theirs, in a block."""


def copied(lines: Sequence[str]) -> list[bool]:
    """Given a prompt's lines, return for each whether somebody else said it, by its shape.

    A blank line is nobody's.
    """
    if len(lines) == 1:  # as most prompts are
        return [_is_copied(lines)]
    shapes = [shape_of(lines, at) for at in range(len(lines))]
    strange = [shape is not Shape.PLAIN for shape in shapes]
    if any(strange) or LEFT_OUT in lines:
        _follow(lines, shapes, strange)
    chat = [at for at, shape in enumerate(shapes) if shape is Shape.BLOCK]
    if chat:
        strange[chat[0] : chat[-1]] = [True] * (chat[-1] - chat[0])
    for start, end in _blocks(lines):
        for at in _within(lines[start:end], shapes[start:end]):
            strange[start + at] = True
    return strange


def _is_copied(lines: Sequence[str]) -> bool:
    """True if a line without another one is somebody else's."""
    (line,) = lines
    return (
        line == LEFT_OUT
        or shape_of(lines, 0) is not Shape.PLAIN
        or bool(LOG_LINE.match(line) or TRACE_HEAD.match(line))
    )


def _follow(lines: Sequence[str], shapes: Sequence[Shape], strange: list[bool]) -> None:
    """Mark what follows each line that begins something, as far as it goes."""
    going = Shape.PLAIN
    for at, (line, shape) in enumerate(zip(lines, shapes, strict=True)):
        if line == LEFT_OUT:
            strange[at] = True
            going = Shape.PLAIN if going is Shape.WROTE else going
        elif not line.strip():
            going = Shape.PLAIN if going in {Shape.BLOCK, Shape.COMMAND} else going
        else:
            is_shown = shape is Shape.COMMAND and _is_shown(lines, at, strange)
            going = _gone_on(going, Shape.PLAIN if is_shown else shape)
            strange[at] |= going is not Shape.PLAIN


def _is_shown(lines: Sequence[str], at: int, strange: Sequence[bool]) -> bool:
    """True if a command is one that the person tells of: their own words stand right above it."""
    return "@" not in lines[at] and at > 0 and bool(lines[at - 1].strip()) and not strange[at - 1]


def _gone_on(going: Shape, shape: Shape) -> Shape:
    """Given what goes on and what a line begins, return what goes on now."""
    match going, shape:
        case (_, Shape.PLAIN | Shape.LINE) | (Shape.BLOCK, Shape.BLOCK | Shape.COMMAND | Shape.PROMPT):
            return going
        case (Shape.END, _) | (_, Shape.END) | (Shape.BLOCK, Shape.PRINT):
            return Shape.END
        case (Shape.WROTE, _) | (_, Shape.WROTE):
            return Shape.WROTE
        case (_, Shape.PROMPT):
            return Shape.PLAIN
        case (Shape.PRINT, Shape.BLOCK):
            return going
        case _:
            return shape


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each stretch of lines that are not blank begins and ends."""
    start = None
    for at, line in enumerate([*lines, ""]):
        if line.strip():
            start = at if start is None else start
        elif start is not None:
            yield start, at
            start = None


def _within(block: Sequence[str], shapes: Sequence[Shape]) -> Iterator[int]:
    """The lines that only a whole block tells: of a log, a trace, between two commands, of a dialogue."""
    end = next((at for at, line in enumerate(block) if TRACE_HEAD.match(line)), len(block))
    yield from range(end, len(block))
    yield from _logged(block[:end])
    for kind in _BETWEEN if any(shape is not Shape.PLAIN for shape in shapes) else ():
        found = [at for at, shape in enumerate(shapes) if shape in kind]
        yield from range(found[0], found[-1]) if found else ()
    turns = [
        (at, label["who"])
        for at, line in enumerate(block)
        if ":" in line and (label := LABELLED.match(line)) and not LABEL.fullmatch(label["who"])
    ]
    if len(turns) <= _LEAST_TURNS:
        return
    times = Counter(who for _, who in turns)
    if len(times) >= _LEAST_TURNS and max(times.values()) >= _LEAST_TURNS:
        yield from range(turns[0][0], len(block))


def _logged(block: Sequence[str]) -> Iterator[int]:
    """A block's log lines; where they are half of it, all of it but plain sentences before and after them."""
    logged = [(at, found) for at, line in enumerate(block) if (found := LOG_LINE.match(line))]
    yield from (at for at, _ in logged)
    if len(logged) <= 1 or 2 * len(logged) < len(block):
        return
    (first, _), (last, found) = logged[0], logged[-1]
    may_follow = bool(found["stamped"]) and not block[last].rstrip().endswith(_GOES_ON)
    for at, line in enumerate(block):
        is_beside = at < first or (at > last and may_follow)
        if not (is_beside and _is_plain_prose(line)):
            yield at


def _is_plain_prose(line: str) -> bool:
    plain = sum(character.isalpha() or character.isspace() for character in line)
    return (
        _SAID_PLAINLY.match(line.rstrip()) is not None
        and plain >= _PLAIN_SHARE * len(line)
        and has_words(line, _PROSE_WORDS)
    )
