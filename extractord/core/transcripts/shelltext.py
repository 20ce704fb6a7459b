"""Which files a shell command names and would change, as far as its text alone tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_LIMIT = 262_144
"""Characters of a command that are looked at; what follows is content, never another command."""
_LONGEST = 4096
"""Characters of a path or of a variable's value; longer ones are not followed."""
_HEREDOCS = 16
"""Bodies that one line may announce."""
_DEPTH = 3
"""How deep `bash -c "bash -c …"` is followed."""

_TOKEN = re.compile(
    r"""[^\S\n]*(?:
      (?P<bare>[^\s'"\\|&;()<>\#$%\d][^\s'"\\|&;()<>\#$%]*(?=[\s|&;()<>]|\Z))
    | (?P<out>(?:\d+|&)?>>?\|?(?!&\d|&-))
    | (?P<duplicate>\d*[<>]{1,3}&[\d-]+)
    | (?P<word>(?:[^\s'"\\|&;()<>\#$]|\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\([^()\n]*\)|\$\{[^{}\n]*\}
        |\$|(?<=[^\s;&|()])\#)+)
    | (?P<end>\|\|?&?|&&?|;;?|\n)
    | (?:<<-?[ \t]*['"\\]?(?P<tag>[\w.-]+)['"]?(?P<here>))
    | (?P<string><<<)
    | (?P<into><>?)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<comment>\#[^\n]*)
    | .
    )""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""['"\\$%]""")
_PIECE = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^'"\\]+)|.""", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_HOMES = re.compile(r"\$\{process\.env\.HOME\}|\$env:(?:USERPROFILE|HOME)|%USERPROFILE%")
_PREFIXES_NAMES = """
    sudo env command nohup time exec builtin then do else if while until ! { xargs stdbuf export local
    readonly"""
_PREFIXES = frozenset(_PREFIXES_NAMES.split())
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
_TO_LAST = frozenset(("mv", "install", "ln", "cp", "rsync"))
_CHANGERS = _TO_LAST | {"tee", "rm", "unlink", "touch", "truncate"}
_EDITORS = frozenset(("sed", "perl", "gsed"))
_SETTERS = frozenset(("set-content", "add-content", "out-file", "remove-item", "new-item"))
_READERS_NAMES = """
    cat head tail less more bat nl wc tac strings xxd od sort uniq cut diff cmp jq get-content
    type"""
_READERS = frozenset(_READERS_NAMES.split())
_SEARCHERS = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "awk", "gawk"))
_TELLING = _SHELLS | _CHANGERS | _EDITORS | _SETTERS | _READERS | _SEARCHERS | {"dd"}
_REDIRECTION = re.compile(r"<|>(?!&\d|\s*/dev/null)")
_NAME = re.compile(r"[\w-]+")


class Touched(NamedTuple):
    """Files as the command names them, after its own `cd`s: relative, absolute or `~/…`."""

    writes: tuple[str, ...]
    reads: tuple[str, ...]


def touched(command: str, depth: int = 0) -> Touched:
    """Given a shell command, return the files that it would change and those that it reads.

    Redirections, heredocs, `tee`, `sed -i`, `mv`, `cp`, `rm`, `dd of=` and their like; `cd`, plain
    variables and `bash -c` are followed. What an interpreter's program does is not seen.
    """
    text = _HOMES.sub("~", command[:_LIMIT])
    if not _REDIRECTION.search(text) and _TELLING.isdisjoint(_NAME.findall(text.lower())):
        return Touched((), ())
    scan = _Scan(depth)
    scan.walk(text)
    return Touched(tuple(dict.fromkeys(scan.writes)), tuple(dict.fromkeys(scan.reads)))


class _Scan:
    """A walk over a command's tokens; knows where `cd` led and what variables hold."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.here = ""
        self.variables = {"HOME": "~"}
        self.words: list[str] = []
        self.writes: list[str] = []
        self.reads: list[str] = []

    def walk(self, text: str) -> None:
        outer: list[str] = []
        awaited: list[str] = []
        redirect: str | None = None
        position = 0
        while match := _TOKEN.match(text, position):
            position = match.end()
            match match.lastgroup:
                case "bare" if redirect is None:
                    self.words.append(match["bare"])
                case "bare" | "word" as kind:
                    self.word(match[kind], redirect)
                    redirect = None
                case "end":
                    self.run()
                    redirect = None
                    if awaited and match["end"] == "\n":
                        position = _past_bodies(text, position, awaited)
                case "out" | "into" | "string":
                    redirect = match.lastgroup
                case "here":
                    awaited += [match["tag"]] if len(awaited) < _HEREDOCS else []
                case "open":
                    self.run()
                    redirect = None
                    outer.append(self.here)
                case "close":
                    self.run()
                    self.here = outer.pop() if outer else self.here
                case _:
                    pass
        self.run()

    def word(self, token: str, redirect: str | None) -> None:
        word = self.plain(token) if _QUOTED.search(token) else token
        if redirect is None:
            self.words.append(word)
        elif redirect == "out":
            self.writes += self.file(word)
        elif redirect == "into":
            self.reads += self.file(word)

    def plain(self, token: str) -> str:
        """Given a word as written, return it without quotes and with what variables hold."""
        found = []
        for single, double, escaped, bare in _PIECE.findall(token):
            text = double.replace("\\", "") if double else escaped or bare
            found.append(single or _VARIABLE.sub(self.value, text))
        return "".join(found)

    def value(self, match: re.Match[str]) -> str:
        return self.variables.get(match[1] or match[2], match[0])

    def file(self, word: str) -> list[str]:
        """Given a word that stands for a file, return its path after `cd`, or nothing."""
        if not word or word.startswith(("/dev/", "$", "`", "-", "|")) or word.isdigit():
            return []
        return [_beneath(self.here, word)]

    def run(self) -> None:
        """A command is complete: note what it names."""
        words, self.words = self.words, []
        while words:
            if match := _ASSIGNMENT.fullmatch(words[0]):
                self.variables[match[1]] = match[2] if len(match[2]) < _LONGEST else ""
            elif words[0] not in _PREFIXES:
                break
            words = words[1:]
        if words:
            self.command(words[0].rpartition("/")[2].lower(), words[1:])

    def command(self, name: str, arguments: Sequence[str]) -> None:
        operands = [word for word in arguments if not word.startswith("-")]
        if name in ("cd", "pushd", "set-location"):
            self.here = _beneath(self.here, operands[0]) if operands else "~"
        elif name in _SHELLS and any(word.startswith("-") and "c" in word for word in arguments):
            self.nested(operands)
        elif name in _CHANGERS:
            self.change(name, arguments, operands)
        elif name in _EDITORS:
            self.edit(arguments, operands)
        elif name == "dd":
            self.note(self.writes, [word[3:] for word in operands if word.startswith("of=")])
        elif name in _SETTERS:
            self.note(self.writes, operands[:1])
        elif name in _READERS:
            self.note(self.reads, operands)
        elif name in _SEARCHERS:
            self.note(self.reads, operands[1:])

    def nested(self, operands: Sequence[str]) -> None:
        if operands and self.depth < _DEPTH:
            inner = touched(operands[0], self.depth + 1)
            self.note(self.writes, inner.writes)
            self.note(self.reads, inner.reads)

    def change(self, name: str, arguments: Sequence[str], operands: list[str]) -> None:
        if name not in _TO_LAST:
            self.note(self.writes, operands)
            return
        folder = _option(arguments, "-t", "--target-directory")
        sources = [word for word in operands if word != folder]
        target = folder + "/" if folder else (sources.pop() if len(sources) > 1 else "")
        self.note(self.reads if name != "mv" else self.writes, sources)
        if target.endswith("/"):
            self.note(self.writes, [target + source.rpartition("/")[2] for source in sources])
        else:
            self.note(self.writes, [target])

    def edit(self, arguments: Sequence[str], operands: list[str]) -> None:
        scripted = any(word in ("-e", "-f") or word.startswith("--expression") for word in arguments)
        in_place = any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in arguments)
        files = [word for word in operands if word]
        if scripted:
            script = _option(arguments, "-e", "-f")
            files = [word for word in files if word != script]
        else:
            files = files[1:]
        self.note(self.writes if in_place else self.reads, files)

    def note(self, to: list[str], words: Sequence[str]) -> None:
        for word in words:
            to += self.file(word)


def _past_bodies(text: str, position: int, awaited: list[str]) -> int:
    """Given the start of the line after a heredoc's command, return where its bodies end."""
    for tag in awaited:
        end = re.compile(rf"^[ \t]*{re.escape(tag)}[ \t\r]*$", re.MULTILINE).search(text, position)
        position = end.end() if end else len(text)
    awaited.clear()
    return position


def _beneath(here: str, word: str) -> str:
    if not here or len(here) > _LONGEST or word.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", word):
        return word
    return f"{here}/{word}"


def _option(arguments: Sequence[str], *names: str) -> str:
    for flag, value in pairwise(arguments):
        if flag in names:
            return value
    return ""
