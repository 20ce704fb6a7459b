"""A text in which a regular expression is found: the plainest that its pattern lets one think of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants, _parser  # type: ignore[attr-defined]  # the parser that `re` itself uses
from typing import Any

_CATEGORIES = {
    _constants.CATEGORY_DIGIT: "1",
    _constants.CATEGORY_SPACE: " ",
    _constants.CATEGORY_WORD: "a",
    _constants.CATEGORY_NOT_DIGIT: "a",
    _constants.CATEGORY_NOT_SPACE: "a",
    _constants.CATEGORY_NOT_WORD: " ",
}


def sample(pattern: str) -> str | None:
    """Given a pattern, return a text in which it is found; None where none was thought of."""
    text = _of(_parser.parse(pattern, re.IGNORECASE))
    return text if re.search(pattern, text, re.IGNORECASE) else None


def _of(tokens: Iterable[tuple[Any, Any]]) -> str:
    return "".join(_one(kind, value) for kind, value in tokens)


def _one(kind: Any, value: Any) -> str:
    made = ""
    match kind:
        case _constants.LITERAL:
            made = chr(value)
        case _constants.ANY | _constants.NOT_LITERAL:
            made = " "
        case _constants.IN:
            made = _of_set(value)
        case _constants.BRANCH:
            made = _of(value[1][0])
        case _constants.SUBPATTERN:
            made = _of(value[3])
        case _constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT:
            made = _of(value[2]) * int(value[0])
    return made


def _of_set(members: Iterable[tuple[Any, Any]]) -> str:
    for kind, value in members:
        match kind:
            case _constants.LITERAL:
                return chr(value)
            case _constants.RANGE:
                return chr(value[0])
            case _constants.CATEGORY:
                return _CATEGORIES.get(value, "a")
            case _:  # a negated set: a space is in few of them
                return " "
    return ""
