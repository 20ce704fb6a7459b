"""The one command that Bash has: `rm` of named memories, read here and never executed.

A grammar on the raw text decides; bashlex is a second opinion and a tripwire. bashlex 0.18 hides
substitutions between single quotes, loops for ever on `a'${'`, and shows no globs or braces:
nothing that the grammar refuses is given to it.
"""

from __future__ import annotations

import re

import bashlex

from extractord.policy.characters import named
from extractord.policy.requests import Remove
from extractord.policy.segments import is_path_character
from extractord.policy.verdict import Deny

COMMAND_BYTES = 2048
"""A longer command is refused: bashlex is slower than linear on some."""

_QUOTES = frozenset("'\"")
_COMMAND = re.compile(
    r"rm(?: +-f)?(?: +--)?(?P<words>(?: +(?:'[^'\"]+'|\"[^'\"]+\"|[^ '\"()-][^ '\"()]*))+) *"
)
_WORD = re.compile(r"'([^']+)'|\"([^\"]+)\"|([^ ]+)")
_INSTEAD = (
    "Bash runs nothing but `rm [-f] [--] /memory/…/name.md …`, each path absolute, bare or quoted"
    " as a whole. To look use Read, Grep or Glob; to change use Write or Edit."
)


def parse_rm(command: str) -> Remove | Deny:
    """Given the text of a Bash call, return what it removes, or Deny; never raises, never runs.

    The paths are the words' text, unchanged; whether they may be removed is for `judge`.
    """
    found = _first_fault(command)
    if found is not None:
        return Deny("bash", f"{found}. {_INSTEAD}")
    match = _COMMAND.fullmatch(command.strip(" "))
    if match is None:
        return Deny("bash", f"This is not a plain removal of named memories. {_INSTEAD}")
    paths = tuple(single or double or bare for single, double, bare in _WORD.findall(match["words"]))
    for path in paths:
        if not path.startswith("/"):
            return Deny("bash", f"Every path has to be absolute. {_INSTEAD}")
    if not _bashlex_agrees(command, paths):  # pragma: no cover - no such command is known
        return Deny("bash-disagreement", f"Two readings of this command differ. {_INSTEAD}")
    return Remove(paths)


def _first_fault(command: str) -> str | None:
    """Given a command, return what is wrong with its length or characters."""
    try:
        size = len(command.encode())
    except UnicodeEncodeError as error:
        return f"{named(command[error.start])} cannot be written in UTF-8"
    if size > COMMAND_BYTES:
        return f"The command has {size} bytes; at most {COMMAND_BYTES}"
    for char in command:
        if char not in _QUOTES and char != "/" and not is_path_character(char):
            return f"{named(char)} may not stand in a command"
    return None


def _bashlex_agrees(command: str, paths: tuple[str, ...]) -> bool:
    """True if bashlex sees one command of the same plain words."""
    try:
        nodes = bashlex.parse(command)
    except Exception:  # noqa: BLE001 - it raises six kinds of its own faults; each is a disagreement
        return False
    if len(nodes) != 1 or nodes[0].kind != "command":
        return False
    parts = nodes[0].parts
    if any(part.kind != "word" or part.parts for part in parts):
        return False
    words = [part.word for part in parts]
    options = words[1 : len(words) - len(paths)]
    return (
        words[:1] == ["rm"]
        and options in ([], ["-f"], ["--"], ["-f", "--"])
        and tuple(words[len(words) - len(paths) :]) == paths
    )
