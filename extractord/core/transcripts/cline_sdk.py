"""Cline since its SDK: a session's messages as a document rewritten as a whole, a manifest beside."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from extractord.core.records import Origin, Role, Seen, ToolCall
from extractord.core.transcripts.blocks import Block, Content, blocks_of, shown_in, text_of
from extractord.core.transcripts.commontools import has_failed, parsed
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import absolute
from extractord.core.transcripts.source import Opened
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

MANIFEST = "{folder}.json"
ENDING = ".messages.json"
_INPUT = re.compile(r"<(user_input|user_command)\b[^<>]*>(.*?)(?:(?P<ended></\1>)|\Z)", re.DOTALL)
_MODE = re.compile(r"<mode_notice\b[^<>]*>(?:.*?</mode_notice>|.*)", re.DOTALL)
_WRAPPERS = re.compile(
    r"<mode_notice\b[^<>]*>(?:.*</mode_notice>|.*)"
    r"|(?:\A|(?<=\n))<(\w{0,64}?(?:editor|environment|workspace|context|state|file_content|reminder)\w{0,64})\b[^<>]*>"
    r"(?:.*</\1>|.*)",
    re.DOTALL,
)
"""What is put into a person's input, to the last end mark: a file may hold one too."""
_ITS_OWN = re.compile(r"The user approved switching to act mode\. Continue with the approved plan now\.\s*\Z")
_TEAM = re.compile(r"\Aspawn a team of agents for the following task:\s*", re.IGNORECASE)
_SUMMARY = re.compile(r"\AContext summary:\n")
_RUNS = frozenset({"run_commands", "run_command", "bash"})
_READS = frozenset({"read_files", "read_file"})
_DEPTH = 4
_PATHS = ("files", "file_paths", "paths", "path")


class _Manifest(Struct):
    cwd: str | None = None
    workspace_root: str | None = None
    interactive: Any = None
    parent_session_id: str | None = None
    is_subagent: Any = None
    metadata: Any = None


class _Whence(Struct):
    subagent: str | None = None
    parentThreadId: str | None = None  # noqa: N815 - the record's own name
    version: str | None = None


class _Message(Struct):
    role: str = ""
    id: str | None = None
    content: Content = None
    ts: Any = None
    metadata: Any = None


class _Session(Struct):
    origin: _Whence = field(default_factory=_Whence)
    messages: list[_Message] | None = None


_MANIFEST = decoder(_Manifest)
_SESSION = decoder(_Session)
_MESSAGES = decoder(list[_Message])


class ClineSessionReader:
    """Folds a session's document; a file of another name in its folder is a team-mate's."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's, and from beside where it works and who drives it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        *_, folder, name = ("", *opened.path.replace("\\", "/").split("/"))
        self._name = name.removesuffix(ENDING)
        manifest = _MANIFEST(opened.beside.get(MANIFEST, b"")) or _Manifest()
        self._speech = Speech("cline", self._name)
        self._speech.cwd = manifest.cwd or manifest.workspace_root
        self._speech.branch = _branch(manifest.metadata)
        self._runs: dict[str, int] = {}
        self._prompts = Origin.HEADLESS if manifest.interactive is False else Origin.HUMAN
        of_team = "__" in self._name or (self._name != folder and MANIFEST in opened.beside)
        self._speech.is_subagent = bool(of_team or manifest.parent_session_id or manifest.is_subagent is True)

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given the whole document, yield what it brings."""
        if record.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"[":
            session = _Session(messages=decoded(record, _MESSAGES, self.unknown))
        else:
            session = decoded(record, _SESSION, self.unknown) or _Session()
        if session.messages is None:
            self.unknown["no messages"] += 1
            return
        self.session = self._name
        self.version = session.origin.version or self.version
        if session.origin.subagent or session.origin.parentThreadId:
            self._speech.is_subagent = True
        self._speech.begin(self._name)
        marked = any(_inputs(text_of(each.content)) for each in session.messages if each.role == "user")
        for nth, message in enumerate(session.messages):
            yield from self._message(message, f"{self._name}/{message.id or nth}", is_marked=marked)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a document is whole."""
        return iter(())

    def _message(self, message: _Message, ident: str, *, is_marked: bool) -> Iterator[Seen]:
        speech, text = self._speech, text_of(message.content)
        for block in blocks_of(message.content):
            if block.type == "tool_result":
                yield from self._result(block, ident, message.ts)
        match message.role:
            case "user" if _is_summary(message, text):
                entry = speech.entry(Role.CONTEXT, Origin.RECALLED, text, ident, message.ts)
                yield from speech.aside(entry)
            case "user" if text.strip():
                yield from self._prompt(text, ident, message.ts, is_marked=is_marked)
            case "assistant":
                entry = speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, message.ts)
                asked = (block for block in blocks_of(message.content) if block.type == "tool_use")
                calls = (self._calls(block, f"{ident}/{nth}") for nth, block in enumerate(asked))
                yield from speech.answered(entry, [call for each in calls for call in each])
            case "user":
                return
            case other:
                self.unknown[f"message/{other[:64]}"] += 1

    def _prompt(self, text: str, ident: str, time: object, *, is_marked: bool) -> Iterator[Seen]:
        """Where inputs are marked, what stands outside of one is the agent's own."""
        inputs = _inputs(_MODE.sub("", text))
        own = "\n".join(inputs) if inputs else text
        typed = _TEAM.sub("", _WRAPPERS.sub("", own).strip())
        if (is_marked and not inputs) or _ITS_OWN.match(typed):
            entry = self._speech.entry(Role.CONTEXT, Origin.SYNTHETIC, text, ident, time)
            yield from self._speech.aside(entry)
        elif typed:
            entry = self._speech.entry(Role.USER, self._prompts, typed, ident, time)
            yield from self._speech.prompted(entry)

    def _calls(self, block: Block, ident: str) -> Iterator[ToolCall]:
        """A call; one may read many files, and run many commands, each of which ends for itself."""
        name, call = block.name or "", block.id or ident
        commands = [*_commands(block.input)] if name in _RUNS else []
        if not commands:
            yield self._call(block, call)
            return
        self._runs[call] = len(commands)
        for nth, command in enumerate(commands):
            inner = call if len(commands) == 1 else f"{call}/{nth}"
            yield replace(self._speech.call(inner, "execute_command", {"command": command}), name=name)

    def _call(self, block: Block, ident: str) -> ToolCall:
        name, given, cwd = block.name or "", block.input, self._speech.cwd
        call = self._speech.call(ident, "edit" if name == "editor" else name, given)
        if name in _READS and not call.paths:
            call = replace(call, paths=tuple(absolute(path, cwd) for path in _paths(given)))
        return replace(call, name=name)

    def _result(self, block: Block, ident: str, time: object) -> Iterator[Seen]:
        call = block.tool_use_id or ident
        shown, ok = _outcome(block.content)
        if block.is_error is True:
            ok = False
        runs = self._runs.get(call, 1)
        if runs > 1:
            each = _successes(block.content)
            for nth in range(runs):
                one = each[nth] if len(each) == runs else ok
                yield from self._speech.result(f"{call}/{nth}", "", ok=one)
        yield from self._speech.result(call, shown, ok=ok, time=time, name=block.name or "")


def _is_summary(message: _Message, text: str) -> bool:
    kind = message.metadata.get("kind") if isinstance(message.metadata, dict) else None
    return kind == "compaction_summary" or _SUMMARY.match(text) is not None


def _results(content: object) -> list[dict[str, Any]]:
    """What each thing that was asked for gave, where it is told apart."""
    found = parsed(content) if isinstance(content, str) and content.lstrip()[:1] in ("[", "{") else content
    parts = found if isinstance(found, list) else [found]
    return [part for part in parts if isinstance(part, dict) and ("result" in part or "success" in part)]


def _successes(content: object) -> list[bool]:
    return [part.get("success") is not False and not part.get("error") for part in _results(content)]


def _outcome(content: object) -> tuple[str, bool]:
    """What a call gave, and whether all that it was asked for was done."""
    results = _results(content)
    if not results:
        shown = shown_in(content)
        return shown, not has_failed(shown)
    shown = "\n".join(filter(None, (shown_in(part.get("result")) or shown_in(part) for part in results)))
    return shown, all(_successes(content))


def _commands(given: object, depth: int = _DEPTH) -> Iterator[str]:
    """The commands of a call, in any of the forms that the tool takes."""
    match given:
        case str():
            yield given
        case list() if depth:
            for each in given:
                yield from _commands(each, depth - 1)
        case {"commands": inner} | {"cmd": inner} if depth:
            yield from _commands(inner, depth - 1)
        case {"command": str() as command, "args": list() as words}:
            yield shlex.join([command, *(word for word in words if isinstance(word, str))])
        case {"command": inner} if depth:
            yield from _commands(inner, depth - 1)


def _paths(given: object, depth: int = _DEPTH) -> Iterator[str]:
    """The paths of a call, in any of the forms that the tool takes."""
    match given:
        case str():
            yield given
        case list() if depth:
            for each in given:
                yield from _paths(each, depth - 1)
        case dict() if depth:
            for key in _PATHS:
                yield from _paths(given.get(key), depth - 1)


def _branch(metadata: object) -> str | None:
    git = metadata.get("git") if isinstance(metadata, dict) else None
    branch = git.get("branch") if isinstance(git, dict) else None
    return branch if isinstance(branch, str) else None


def _inputs(text: str) -> list[str]:
    """What a text has between marks of a person's input; one that never ends holds nothing."""
    return [match[2] for match in _INPUT.finditer(text) if match["ended"]]
