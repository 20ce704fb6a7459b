"""What Read, Grep and Glob answer about memories, in few and bounded words."""

from __future__ import annotations

from collections.abc import Iterable

from extractord.agent.catalogue import ReadCall
from extractord.agent.globbing import matches

ANSWER_CHARACTERS = 64 * 1024
"""An answer is at most so long."""
HITS = 100
"""Lines that Grep answers, paths that Glob answers."""
LINE_CHARACTERS = 300
"""So much of a line is shown by Grep."""
SEARCHED_CHARACTERS = 16 * 1024 * 1024
"""Grep stops after so much text."""


def show(call: ReadCall, text: str) -> str:
    """Given a memory's text, return the lines that were asked for, numbered, with a word on the rest."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return f"{call.file_path} is empty."
    if call.offset > len(lines):
        return f"{call.file_path} has {len(lines)} lines; line {call.offset} is past its end."
    shown: list[str] = []
    room = ANSWER_CHARACTERS
    for number, line in enumerate(lines[call.offset - 1 : call.offset - 1 + call.limit], call.offset):
        row = f"{number}\t{line}"
        if len(row) > room:
            if not shown:
                shown.append(row[:room] + " … (the line goes on)")
            break
        room -= len(row) + 1
        shown.append(row)
    behind = call.offset + len(shown)
    if behind <= len(lines):
        shown.append(f"… {len(lines) - behind + 1} more lines: read on with offset {behind}.")
    return "\n".join(shown)


def search(pattern: str, texts: Iterable[tuple[str, str]]) -> str:
    """Given virtual paths with their texts, return the lines that hold the pattern in any case."""
    wanted = pattern.casefold()
    hits: list[str] = []
    left = SEARCHED_CHARACTERS
    for path, text in texts:
        left -= len(text)
        if left < 0:
            hits.append("… stopped: too much text. Search below a narrower path.")
            break
        if wanted not in text.casefold():
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if wanted in line.casefold():
                hits.append(f"{path}:{number}: {line[:LINE_CHARACTERS]}")
        if len(hits) > HITS:
            hits[HITS:] = [f"… only the first {HITS} lines. Search for something rarer."]
            break
    return "\n".join(hits) or "No memory holds that text."


def listing(pattern: str, paths: Iterable[str]) -> str:
    """Given virtual paths, those of folders with a slash at the end, return those that match, one a line."""
    found = [path for path in sorted(paths) if matches(pattern, path.rstrip("/"))]
    rows = found[:HITS]
    if len(found) > HITS:
        rows.append(f"… and {len(found) - HITS} more. Use a narrower pattern.")
    return "\n".join(rows) or "No memory matches."


def folders(paths: Iterable[str]) -> set[str]:
    """Given virtual paths of memories, return every folder above them, with a slash at the end."""
    above: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder.count("/") > 1 and folder + "/" not in above:
            above.add(folder + "/")
            folder = folder.rpartition("/")[0]
    return above
