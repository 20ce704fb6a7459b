"""What every adapter makes of recorded paths, commands, patches, programs, instants and texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from extractord.core.transcripts import shelltext

_HOME = re.compile(r"(/home/[^/]+|/Users/[^/]+|/root)(?:/|$)")
_UNFOLDED = re.compile(r"//|/\.\.?(?:/|$)|/$")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PATCH_FILE = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.*[^ \t\r\n])", re.MULTILINE
)
_LITERAL = re.compile(
    r"""(?:["']?(?<!\w)(?P<key>\w+)["']?\s*:\s*)?
        (?:"(?P<double>(?:\\.|[^"\\\n])*)"|'(?P<single>(?:\\.|[^'\\\n])*)'|`(?P<tick>(?:\\.|[^`\\])*)`)
        |(?P<escape>\\.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKS = ("<extractord-memory", "&lt;extractord-memory")
"""How memory that was injected begins: as it is, and as Gemini CLI and Qwen Code escape it."""
_INJECTED = re.compile(
    r"(?P<open><|&lt;)extractord-memory\b.*?(?:(?P=open)/extractord-memory(?:>|&gt;)|\Z)", re.DOTALL
)
_HOST = re.compile(r"(?:\s*<(?P<name>system[_-]instructions?)>.*</(?P=name)>)++", re.DOTALL)
"""What a program that agents are used in tells them ahead of a person's words: to the last end mark."""
_OUTPUT = 65_536
_PROGRAM = 262_144
_MILLISECONDS = 100_000_000_000
"""A number at or above it counts milliseconds: as seconds it would be the year 5138."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def absolute(path: str, cwd: str | None) -> str:
    """Given a path as recorded and the record's cwd, return it absolute and folded.

    `~/` and `$HOME/` become the home in which the cwd lies (/home/X, /Users/X, /root), else stay
    `~/…`; a relative path without a cwd stays relative; a Windows path keeps its drive.
    """
    if path.startswith("/") and not _UNFOLDED.search(path):
        return path
    path = path.removeprefix("file://")
    for home in ("$HOME/", "${HOME}/"):
        if path.startswith(home):
            path = "~/" + path[len(home) :]
    if _DRIVE.match(path):
        return path[:2] + _folded(path[2:].replace("\\", "/"))
    if path == "~" or path.startswith("~/"):
        match = _HOME.match(cwd or "")
        return _folded(match[1] + path[1:]) if match else "~" + _folded("/" + path[2:]).rstrip("/")
    if path.startswith("/") or not cwd:
        return _folded(path)
    if _DRIVE.match(cwd):
        return absolute(cwd + "/" + path.replace("\\", "/"), None)
    return _folded(f"{cwd}/{path}")


def _folded(path: str) -> str:
    """Given a path, return it without empty, `.` and `..` segments, as far as it goes up."""
    rooted = path.startswith("/")
    kept: list[str] = []
    for segment in path.split("/"):
        if segment in ("", "."):
            continue
        if segment != "..":
            kept.append(segment)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not rooted:
            kept.append("..")
    return ("/" if rooted else "") + "/".join(kept)


def shell_writes(command: str, cwd: str | None) -> tuple[str, ...]:
    """Given a shell command, return the files that it would change, absolute."""
    return shell_touches(command, cwd)[0]


def shell_reads(command: str, cwd: str | None) -> tuple[str, ...]:
    """Given a shell command, return the files that it reads by `cat`, `sed -n`, `grep`, `<` …, absolute."""
    return shell_touches(command, cwd)[1]


def shell_touches(command: str, cwd: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Given a shell command, return what `shell_writes` and `shell_reads` do, in one pass."""
    touched = shelltext.touched(command)
    patched = patch_paths(command, cwd) if "*** Begin Patch" in command else ()
    writes = _unique(*patched, *(absolute(path, cwd) for path in touched.writes))
    return writes, _unique(*(absolute(path, cwd) for path in touched.reads))


def patch_paths(text: str, cwd: str | None) -> tuple[str, ...]:
    """Given text in apply_patch's form, return the files that it adds, changes, moves or deletes."""
    return _unique(*(absolute(path.strip(), cwd) for path in _PATCH_FILE.findall(text)))


def script_writes(program: str, cwd: str | None) -> tuple[str, ...]:
    """Given JavaScript that calls `tools.…`, return the files that its commands and patches change.

    A scan of its string literals: what the program computes is not seen.
    """
    found: list[str] = []
    for text, place in _commands(program, cwd):
        found += shell_writes(text, place)
    for _, text in _literals(program):
        if "*** Begin Patch" in text:
            found += patch_paths(text, cwd)
    return _unique(*found)


def script_reads(program: str, cwd: str | None) -> tuple[str, ...]:
    """Given JavaScript that calls `tools.…`, return the files that its commands read."""
    return _unique(*(path for text, place in _commands(program, cwd) for path in shell_reads(text, place)))


def _commands(program: str, cwd: str | None) -> Iterator[tuple[str, str | None]]:
    """The shell commands in a program, each with the cwd that stands after it, else the record's."""
    literals = tuple(_literals(program))
    for nth, (key, text) in enumerate(literals):
        if key in ("cmd", "command", "script"):
            beside = literals[nth + 1 : nth + 2]
            place = next((value for name, value in beside if name in ("workdir", "cwd")), None)
            yield text, absolute(place, cwd) if place else cwd


def _literals(program: str) -> Iterator[tuple[str, str]]:
    """A program's string literals, each with the key before it, or an empty one."""
    for match in _LITERAL.finditer(program, 0, _PROGRAM):
        if match["escape"] is not None:
            continue
        raw = match["double"] or match["single"] or match["tick"] or ""
        yield match["key"] or "", clean(_ESCAPE.sub(_unescaped, raw))


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, code)


def instant(value: object) -> datetime | None:
    """Given an ISO text or a number of seconds or milliseconds, return the instant in UTC, or None.

    A text without a zone is taken as UTC.
    """
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return None
        if parsed.tzinfo is UTC:
            return parsed
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return _EPOCH + timedelta(milliseconds=value if abs(value) >= _MILLISECONDS else value * 1000)
    except (OverflowError, ValueError):
        return None


def text_key(text: str, nth: int) -> str:
    """Given an entry's text and how many of the same came before, return an id that copies share."""
    return f"text:{sha256(clean(text).encode()).hexdigest()[:24]}:{nth}"


def hosted(text: str) -> tuple[str, str]:
    """Given a prompt, return what the program told that the agent is used in, and the rest."""
    told = _HOST.match(text)
    end = told.end() if told else 0
    return text[:end].strip(), text[end:].strip() if end else text


def is_injected(text: str) -> bool:
    """Given text, return True if memory that was injected stands in it."""
    return "extractord-memory" in text and any(mark in text for mark in _MARKS)


def parts(text: str) -> Iterator[tuple[str, bool]]:
    """Given text, return its stretches in order, each with whether it is memory that was injected.

    Stretches of white space alone are left out; a block without an end goes to the end of the text.
    """
    if not is_injected(text):
        yield text, False
        return
    position = 0
    for match in _INJECTED.finditer(text):
        if before := text[position : match.start()].strip():
            yield before, False
        yield match.group(), True
        position = match.end()
    if after := text[position:].strip():
        yield after, False


def shortened(text: str) -> str:
    """Given a tool's output, return it clean and at most 64 Ki characters long: head, marker, tail."""
    cut = len(text) - _OUTPUT
    if cut > 0:
        text = f"{text[: _OUTPUT // 2]}\n[… {cut} characters left out …]\n{text[-_OUTPUT // 2 :]}"
    return clean(text)


def clean(text: str) -> str:
    """Given text, return it with lone surrogates replaced, so that it can be stored."""
    if text.isascii():
        return text
    try:
        text.encode()  # a fifth of a search's time, and hardly any text has one
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _unique(*paths: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
