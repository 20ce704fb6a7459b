"""Cursor's older agent transcripts: text with marks for who speaks, tool calls and results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from extractord.core.records import Seen
from extractord.core.transcripts.blocks import opening
from extractord.core.transcripts.commontools import has_failed
from extractord.core.transcripts.cursor_words import said_by
from extractord.core.transcripts.fences import fenced
from extractord.core.transcripts.recorded import clean
from extractord.core.transcripts.source import Opened
from extractord.core.transcripts.speech import Speech

_SPEAKERS = {"user:": "user", "assistant:": "assistant", "A:": "assistant"}
_CALL = re.compile(r"\[Tool call\] (\S+)\s*+(\{.*\})?\s*$")
_RESULT = re.compile(r"\[Tool result\](?: (\S+))?\s*$")
_ARGUMENT = re.compile(r"  (\w+): ?(.*)$")
_LONG = frozenset({"content", "contents", "old_string", "new_string", "patch", "diff", "command", "prompt"})


class CursorTextReader:
    """Folds a whole text; a person's words are only what it marks as a query."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's: nothing in it says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        path = opened.path.replace("\\", "/")
        self._speech = Speech("cursor", path.rsplit("/", 1)[-1].removesuffix(".txt"))
        self._speech.is_subagent = "/subagents/" in path

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given the whole text, yield what it brings."""
        text = clean(record.decode("utf-8", "replace")).removeprefix("\ufeff").replace("\r\n", "\n")
        if not text.strip("\0\n\t "):
            return
        blocks = tuple(_blocks(text.split("\n")))
        if not blocks:
            self.unknown["no speaker"] += 1
            return
        self.session = self._speech.session
        self._speech.begin(self.session)
        for speaker, lines in blocks:
            if speaker == "user":
                text = "\n".join(lines).strip("\n")
                yield from said_by(self._speech, "user", text, are_marked=True)
            else:
                yield from self._assistant(lines)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a document is whole."""
        return iter(())

    def _assistant(self, lines: list[str]) -> Iterator[Seen]:
        said: list[str] = []
        asked: list[tuple[str, list[str]]] = []
        shown: list[tuple[str, list[str]]] = []
        body = said
        for line in lines:
            awaited = [name for name, _ in asked[len(shown) :]]
            if call := _CALL.match(line):
                body = [call[2]] if call[2] else []
                asked.append((call[1], body))
            elif (result := _RESULT.match(line)) and (result[1] in awaited or not awaited or not result[1]):
                body = []
                shown.append((result[1] or "", body))
            elif line.startswith("[Thinking]"):
                body = said
            elif body is not said and shown and body is shown[-1][1] and line[:1].strip():
                body = said
                body.append(line)
            else:
                body.append(line)
        yield from self._told(said, asked, shown)

    def _told(
        self, said: list[str], asked: list[tuple[str, list[str]]], shown: list[tuple[str, list[str]]]
    ) -> Iterator[Seen]:
        """What was said and asked, then what came back where the text has it: it seldom does."""
        entry = opening(self._speech, "assistant", "\n".join(said).strip("\n"))
        calls = [
            self._speech.call(f"{entry.id}/{nth}", name, _arguments(body))
            for nth, (name, body) in enumerate(asked)
        ]
        yield from self._speech.answered(entry, calls)
        for nth, (name, body) in enumerate(shown):
            if output := "\n".join(body).strip("\n"):
                ok = False if has_failed(output) else None
                yield from self._speech.result(f"{entry.id}/{nth}", output, ok=ok, name=name)


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Who speaks, and the lines.

    A line that looks like a mark counts neither in a fence nor in what a call that has no result yet
    was given to write: both may hold a file.
    """
    speaker, block, fence, before = "", list[str](), "", ""
    awaited, holds_a_file = Counter[str](), False
    for line in lines:
        found = _SPEAKERS.get(line.rstrip())
        if found and not before.strip() and not fence and not holds_a_file:
            if speaker:
                yield speaker, block
            speaker, block = found, []
            awaited.clear()
        elif speaker:
            block.append(line)
            if speaker == "assistant":
                _count(line, awaited)
                holds_a_file = awaited.total() > 0 and (holds_a_file or _begins_a_file(line))
                fence = "" if awaited.total() else fenced(line, fence)
        before = line
    if speaker:
        yield speaker, block


def _count(line: str, awaited: Counter[str]) -> None:
    """Note a call, or a result that was awaited."""
    if call := _CALL.match(line):
        awaited[call[1]] += 1
    elif (result := _RESULT.match(line)) and awaited[result[1] or ""] > 0:
        awaited[result[1] or ""] -= 1


def _begins_a_file(line: str) -> bool:
    """True for an argument that may have many lines, or a line that only such a one can have."""
    if match := _ARGUMENT.match(line):
        return match[1] in _LONG
    return bool(line.strip()) and not line.startswith("  ") and not _CALL.match(line)


def _arguments(lines: list[str]) -> dict[str, str] | str:
    """A call's arguments by name, the first of each; as they are where they are JSON or a patch."""
    whole = "\n".join(lines).strip()
    if whole.startswith("{"):
        return whole
    if "*** Begin Patch" in whole:
        return {"input": "\n".join(line.removeprefix("  ") for line in lines)}
    found: dict[str, list[str]] = {}
    value: list[str] = []
    for line in lines:
        if match := _ARGUMENT.match(line):
            value = [match[2]]
            found.setdefault(match[1], value)
        else:
            value.append(line)
    return {name: "\n".join(kept).rstrip("\n") for name, kept in found.items()}
