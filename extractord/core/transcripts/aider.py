"""Aider: one Markdown file a project, in which a person's lines begin with `#### `."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256

from extractord.core.records import Origin, Role, Seen, ToolCall
from extractord.core.transcripts.fences import fenced
from extractord.core.transcripts.recorded import absolute
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings
from extractord.core.transcripts.speech import Speech

_NAME = ".aider.chat.history.md"
_TYPED = ".aider.input.history"
_TYPED_BYTES = 1024 * 1024
_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
_VERSION = re.compile(r"> Aider v(\S+)")
_PROGRAM = re.compile(r"> \S*aider\S* (?:.* )?(?:--message(?:-file)?|--msg|-m|-f)[ =]")
_COMMAND = 2048
"""Characters of a command line that are looked at."""
_WROTE = re.compile(r"> (?:Applied edit to|Creating empty file) (.+)")
_BREAK = "  "
_MODES = re.compile(r"/(?:ask|code|architect|context|chat-mode \w+)\s+(?=\S)")
"""Commands after which a person's words follow; of others none do."""
_ITS_OWN = re.compile(
    r"# Fix any errors below, if possible\.|# Question: .*^# Relevant docs:"
    r"|Ok, please go ahead and make those changes\.\s*\Z|(?>.*?\(Y\)es/\(N\)o).*\[\w+\]: \w*\s*\Z",
    re.DOTALL | re.MULTILINE,
)
"""What it asks itself, marked as if it was typed: linters' errors, its own help, answers given for all."""


class AiderReader:
    """Folds the file as a whole; all runs in it are one session, known by the file."""

    def __init__(self, opened: Opened) -> None:
        """Take the folder for the cwd, and what was typed from the file beside, if all of it is there."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        folder = opened.path.replace("\\", "/").rpartition("/")[0]
        name = re.sub(r"[^\w.-]", "-", folder.rpartition("/")[2])[:48]
        self._speech = Speech("aider", f"{name}-{sha256(folder.encode('utf-8', 'replace')).hexdigest()[:16]}")
        self._speech.cwd = folder or None
        raw = opened.beside.get(_TYPED, b"")
        self._typed = _typed_in(raw) if raw and len(raw) < _TYPED_BYTES else None

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given the whole file, yield what it brings."""
        text = record.decode("utf-8", "replace").replace("\0", "").lstrip("\ufeff")
        lines = [line.rstrip("\r") for line in text.split("\n")]
        if text.strip():
            self.session = self._speech.session
        self._speech.begin(self._speech.session)
        runs: Counter[str] = Counter()
        for start, run in _runs(lines):
            runs[start] += 1
            if not start and any(line.strip() for line in run):
                self.unknown["before the first run"] += 1
            yield from self._run(run, f"{start}/{runs[start]}")

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: the file is told as it stands."""
        return iter(())

    def _run(self, lines: list[str], run: str) -> Iterator[Seen]:
        prompts = Origin.HUMAN
        has_prompt = False
        blocks = tuple(_told_apart(self._blocks(lines)))
        for nth, (kind, block) in enumerate(blocks):
            ident = f"{self._speech.session}/{run}/{nth}"
            match kind:
                case "prompt":
                    has_prompt = True
                    origin = prompts if self._was_typed(block) else Origin.HEADLESS
                    yield from self._prompt(_text(block), ident, origin)
                case "echo":
                    asked = self._speech.entry(Role.CONTEXT, Origin.SYNTHETIC, _text(block), ident)
                    yield from self._speech.aside(asked)
                case "notice":
                    self._note_version(block)
                    shown = "\n".join(line[2:].rstrip() for line in block)
                    if has_prompt:
                        notice = self._speech.entry(Role.TOOL, Origin.SYNTHETIC, shown, ident)
                        yield from self._speech.aside(notice)
                    elif any(_PROGRAM.match(line[:_COMMAND]) for line in block):
                        prompts = Origin.HEADLESS
                case _ if has_prompt:
                    text = _text(block)
                    answer = self._speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident)
                    noticed = [each for each in blocks[nth + 1 : nth + 2] if each[0] == "notice"]
                    after = blocks[nth + 1 + len(noticed) : nth + 2 + len(noticed)]
                    wrote = [call for _, each in noticed for call in self._wrote(each, ident)]
                    ended = any(following == "prompt" for following, _ in after)
                    yield from self._speech.answered(answer, wrote, ended=ended)

    def _prompt(self, text: str, ident: str, origin: Origin) -> Iterator[Seen]:
        """What a person typed; a command of Aider's, a shell command and an empty line are none of it."""
        if text == "<blank>" or not text:
            return
        said = _MODES.sub("", text, count=1) if _MODES.match(text) else text
        if said[:1] in ("/", "!") and said is text:
            yield from self._speech.aside(self._speech.entry(Role.CONTEXT, Origin.SYNTHETIC, text, ident))
        else:
            yield from self._speech.prompted(self._speech.entry(Role.USER, origin, said, ident))

    def _wrote(self, block: list[str], ident: str) -> tuple[ToolCall, ...]:
        paths = (match[1] for line in block if (match := _WROTE.match(line.rstrip())))
        return tuple(
            ToolCall(
                id=f"{ident}/{nth}",
                name="edit",
                paths=(absolute(path, self._speech.cwd),),
                writes=True,
                ok=True,
            )
            for nth, path in enumerate(paths)
        )

    def _note_version(self, block: list[str]) -> None:
        found = (match[1] for line in block if (match := _VERSION.match(line)))
        self.version = next(found, self.version)

    def _blocks(self, lines: list[str]) -> Iterator[tuple[str, list[str]]]:
        """Prompts (without their marks), notices and answers, in order; each as its lines."""
        marked = any(line.startswith("> ") and line.endswith(_BREAK) for line in lines)
        kind, block, fence, before = "", list[str](), "", ""
        for line in lines:
            if line.startswith("> ") and (
                line.endswith(_BREAK) or not (fence or (marked and kind == "answer"))
            ):
                found, fence = "notice", ""
            elif not fence and _is_marked(line) and self._is_typed(line, before, kind):
                found = "prompt"
            elif kind != "answer" and not line.strip():
                before = line
                continue
            else:
                found, fence = "answer", fenced(line, fence)
            if found != kind or (found == "prompt" and not _is_marked(before)):
                if block:
                    yield kind, block
                kind, block = found, []
            block.append(line[5:].rstrip() if found == "prompt" else line)
            before = line
        if block:
            yield kind, block

    def _is_typed(self, line: str, before: str, kind: str) -> bool:
        """True unless it can be a heading of an answer.

        The agent ends each line of a prompt with a hard break, and puts an empty line before; in the
        middle of an answer it must also stand among what was typed, where that is known.
        """
        if kind == "prompt" and _is_marked(before):
            return True
        if kind != "answer":
            return True
        listed = self._typed is None or line[5:].strip() in self._typed
        return listed and not before.strip() and line.endswith(_BREAK)

    def _was_typed(self, block: list[str]) -> bool:
        """True unless it is known what was typed, and this is not among it.

        An answer may hold a notice or the beginning of a run, and what looks like a prompt after it.
        """
        return self._typed is None or all(line.strip() in self._typed for line in block if line.strip())


def _told_apart(blocks: Iterable[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """Given blocks, return them with what was only marked as typed told apart, as echoes.

    A command with a person's words is followed by the words alone; an architect's answer is given to
    the editor as if a person had said it.
    """
    answer, command = "", None
    for kind, block in blocks:
        text = _text(block)
        if kind != "prompt":
            answer = " ".join(text.split()) if kind == "answer" else answer
            yield kind, block
            continue
        folded = " ".join(text.split())
        is_answer = bool(folded) and (answer == folded or answer.endswith(f"> {folded}"))
        is_again = command is not None and text == command
        yield "echo" if is_answer or is_again or _ITS_OWN.match(text) else kind, block
        command = _MODES.sub("", text, count=1) if _MODES.match(text) else None


def _text(block: list[str]) -> str:
    return "\n".join(block).strip()


def _is_marked(line: str) -> bool:
    return line.startswith("#### ") or line == "####"


def _runs(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each run's start, as it is written, and its lines; what stands before the first has none."""
    start, run = "", list[str]()
    for line in lines:
        if (match := _STARTED.match(line)) is None:
            run.append(line)
            continue
        yield start, run
        start, run = match[1].replace(" ", "T"), []
    yield start, run


def _typed_in(raw: bytes) -> frozenset[str]:
    """Every line that was typed: they begin with `+`, and the times with `#`."""
    lines = raw.decode("utf-8", "replace").splitlines()
    return frozenset(line[1:].strip() for line in lines if line.startswith("+"))


def _roots(around: Surroundings) -> tuple[str, ...]:
    """The folder of `AIDER_CHAT_HISTORY_FILE`; else projects have to be named in `agents.aider.paths`."""
    folder, _, name = (around.env.get("AIDER_CHAT_HISTORY_FILE") or "").rpartition("/")
    return (folder,) if folder and name == _NAME else ()


_BELONGS = re.compile(r"(?:.*/)?\.aider\.chat\.history\.md")
_HEAD = re.compile(rb"\s*# aider chat started at \d{4}-\d\d-\d\d ")


SOURCE = Source(
    agent="aider",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda _path: Container.DOCUMENT,
    claims=lambda path, head: (
        path.endswith(".md") and _HEAD.match(head.removeprefix(b"\xef\xbb\xbf")) is not None
    ),
    reader=AiderReader,
    beside=(_TYPED,),
    writes_turn_end=False,
    gaps=(
        "a prompt has no time; in an answer whose fence was left open, a prompt is taken for the answer; "
        "without `.aider.input.history` beside it an answer can look like a prompt"
    ),
    seen="0.86.1, 0.86.2",
)
