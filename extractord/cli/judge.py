"""`judge`: what the policy says to a request, with the disk's facts; nothing is changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, assert_never

import msgspec
from cyclopts import Parameter
from msgspec import Struct

from extractord.cli.json_lines import json_line
from extractord.cli.options import Json
from extractord.edges.folder import Folder
from extractord.errors import StoreError, UsageError
from extractord.policy import PATH_RULES, PLACE_RULES, RULES, Rule, find_place, parse_rm
from extractord.policy import judge as ask
from extractord.policy.requests import (
    VIRTUAL_ROOTS,
    Edit,
    Facts,
    Found,
    Law,
    PathFacts,
    Read,
    Remove,
    Request,
    Root,
    Write,
)
from extractord.policy.verdict import Allow, Deny, Hold, Verdict

Tool = Literal["Read", "Write", "Edit", "Remove", "Bash"]
Verb = Literal["write", "edit", "remove", "read", "rm"]

_TOOLS: dict[Verb, Tool] = {
    "write": "Write",
    "edit": "Edit",
    "remove": "Remove",
    "read": "Read",
    "rm": "Bash",
}


class Row(Struct, frozen=True):
    """One question, as a line of `--stdin` or as the command's arguments give it."""

    tool: Tool
    file_path: str | None = None
    command: str | None = None
    content: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    root: str | None = None


class Answer(Struct, frozen=True):
    """One answer: verdict `allow`, `hold` or `deny`, with the rule and its reason."""

    verdict: str
    rule: str = ""
    reason: str = ""


class Roots:
    """The roots that were asked about, each opened once."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folders: dict[Path, Folder] = {}

    def answer(self, line: bytes, root: Path | None) -> Answer:
        """Given a line of `--stdin`, return its answer: an undecodable one is denied."""
        try:
            row = msgspec.json.decode(line, type=Row)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return Answer("deny", "malformed", f"This line cannot be read: {error}")
        if (row.command if row.tool == "Bash" else row.file_path) is None:
            wanted = "command" if row.tool == "Bash" else "file_path"
            return Answer("deny", "malformed", f"{row.tool} needs `{wanted}`")
        own = Path(row.root) if row.root is not None else root
        if own is None:
            return Answer("deny", "malformed", "The line names no `root`, and --root was not given")
        try:
            return self.judge(row, own)
        except StoreError as error:
            return Answer("deny", "store", str(error))

    def judge(self, row: Row, root: Path) -> Answer:
        """Given a question about a root, return the answer. Raise StoreError for a bad root."""
        place = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow links
        law = Law(roots=(Root(str(place)), *(replace(virtual, kind=None) for virtual in VIRTUAL_ROOTS)))
        folder = self._folder(place)
        request, rules = _request(row)
        if isinstance(request, Deny):
            return _answer(request)
        verdict = ask(request, Facts(), law, PATH_RULES)
        if isinstance(verdict, Allow):
            verdict = ask(request, _look(request, folder, law), law, rules)
        return _answer(verdict)

    def _folder(self, root: Path) -> Folder:
        if root not in self._folders:
            self._folders[root] = Folder.open(root, self._home)
        return self._folders[root]


def judge(
    verb: Annotated[Verb | None, Parameter(help="What is asked.")] = None,
    subject: Annotated[
        str | None, Parameter(allow_leading_hyphen=True, help="A path, or rm's command.")
    ] = None,
    /,
    *,
    root: Annotated[
        Path | None, Parameter(help="The memory root; /memory/user and /memory/project stand for it.")
    ] = None,
    stdin: Annotated[bool, Parameter(negative=(), help="Read questions, one JSON object a line.")] = False,
    json: Json = False,
) -> int:
    """Ask the policy about a request, with what stands on the disk. Nothing is changed.

    Without content only the path is judged. Rules that need a run (evidence, trust, type and
    root, limits of a run) give no opinion.
    """
    roots = Roots(Path.home())
    if stdin:
        if verb is not None:
            raise UsageError("judge: either --stdin or a request, not both")
        for line in _lines():
            _say(roots.answer(line, root), json=True)
        return 0
    if verb is None or subject is None:
        raise UsageError("judge: say write, edit, remove or read with a PATH, rm with a COMMAND, or --stdin")
    if root is None:
        raise UsageError("judge: --root DIR says which memory root")
    is_command = verb == "rm"
    row = Row(
        tool=_TOOLS[verb],
        file_path=None if is_command else subject,
        command=subject if is_command else None,
    )
    _say(roots.judge(row, root), json=json)
    return 0


def _request(row: Row) -> tuple[Request | Deny, tuple[Rule, ...]]:
    """Given a question, return its request and the rules to ask: of the path alone where no content came."""
    path = row.file_path or ""
    match row.tool:
        case "Bash":
            return parse_rm(row.command or ""), RULES
        case "Read":
            return Read(path), RULES
        case "Remove":
            return Remove((path,)), RULES
        case "Write":
            return Write(path, row.content or ""), PLACE_RULES if row.content is None else RULES
        case "Edit":
            is_whole = row.old_string is not None and row.new_string is not None
            return Edit(path, row.old_string or "", row.new_string or ""), RULES if is_whole else PLACE_RULES
        case _:
            assert_never(row.tool)


def _look(request: Request, folder: Folder, law: Law) -> Facts:
    """Given a request whose paths are allowed by their text, return what the disk says."""
    paths = request.paths if isinstance(request, Remove) else (request.path,)
    found: dict[str, PathFacts] = {}
    for path in paths:
        below = find_place(path, law).below
        facts = folder.facts(below)
        wants_text = isinstance(request, Edit | Write) and facts.found is Found.FILE
        found[path] = replace(facts, text=_text(folder, below, law)) if wants_text else facts
    return Facts(found)


def _text(folder: Folder, below: str, law: Law) -> str | None:
    """Given a file below a root, return its text, or None where it cannot be had."""
    try:
        return folder.read(below, law.read_bytes).decode()
    except (StoreError, UnicodeDecodeError):
        return None


def _answer(verdict: Verdict) -> Answer:
    match verdict:
        case Allow():
            return Answer("allow")
        case Hold(rule=rule, reason=reason) | Deny(rule=rule, reason=reason):
            return Answer(verdict.word, rule, reason)
        case _:
            assert_never(verdict)


def _lines() -> Iterator[bytes]:
    """Yield the lines of standard input, as bytes, as they come."""
    for line in sys.stdin.buffer:
        yield line.removesuffix(b"\n")


def _say(answer: Answer, *, json: bool) -> None:
    if json:
        words = json_line(answer)
    else:
        words = "  ".join(part for part in (answer.verdict, answer.rule, answer.reason) if part)
    print(words, flush=True)
