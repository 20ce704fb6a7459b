"""What is needed of Claude Code's records, and what in them a person wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import UNSET, Raw, Struct, UnsetType, field

from extractord.core.records import Origin, ToolCall
from extractord.core.transcripts.recorded import absolute, hosted, shell_touches

_ENVELOPES = (
    "system-reminder",
    "system_reminder",
    "ide_opened_file",
    "user-prompt-submit-hook",
    "post-tool-use-hook",
    "total_tokens",
)
_SHOWING = ("ide_selection", "ide_diagnostics", "new-diagnostics")
"""Envelopes that show what a file holds: to their last end mark, since it may hold one too."""
_LEADING = ("terminal", "browser", "browser_instruction")
"""The same, where a text begins with one."""
_WRAPPERS = (
    "This session is being continued",
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "[Request interrupted",
    "<task-notification>",
    "Stop hook feedback:",
    "A session-scoped Stop hook",
    "Base directory for this skill:",
    "Caveat:",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<bash-exit-code>",
    "<user-memory-input>",
    "<background-task-input>",
    "<teammate-message",
    "<cross-session-message",
    "<agent-message",
    "<channel source=",
    "<fork-boilerplate>",
    "<tick>",
    "<remote-review",
    "<slack-ping",
    "<slack-tag-message",
    "<coordinator-relay",
    "<voice-call-talk",
    "<fetched-web-content",
    "<untrusted-widget-state",
    "<artifact-",
    "<forked-skill-launch",
    "<fork-source",
    "<system-notification>",
    "<mcp-resource",
    "<mcp-polling-update",
    "<function_results",
    "<tool_use_error",
    "<sandbox_violations",
    "<persisted-output",
    "[MESSAGE FROM NON-USER SOURCE",
    "Messages arrived in the bound thread while you were working:",
    "Operation stopped by hook",
    "UserPromptSubmit operation blocked by hook:",
    "Commands are in the form `/command [args]`",
    "This skill can only be invoked by Claude",
)
_TOLD = re.compile(
    r"\(no content\)|Unknown (?:slash command|command|skill): \S+"
    r"|[\w:.-]+ operation (?:feedback|blocked by hook):\n- .*"
    r"|/\S+ isn't available over Remote Control\.",
    re.DOTALL,
)
"""What the program says in the person's name, as a whole."""
_WRITERS = frozenset(["Write", "Edit", "MultiEdit", "NotebookEdit"])
_SHELLS = frozenset(["Bash", "PowerShell"])
_PROGRAMS = ("sdk", "mcp", "bench", "claude-code-github-action", "claude-security")
_UNATTENDED = frozenset(["", "cli"])
"""Where `sdk` as a prompt's source means a program: an editor passes on what is typed as `sdk` too."""
_BY_HOST = frozenset(
    ["scheduled", "auto_continuation", "host_synthetic", "peer", "system", "task_notification"]
)
_TASK = "<scheduled-task "
_APPROVED = "Implement the following plan:\n\n"
_FEEDBACK = "\n\nUser feedback on this plan: "
_FOREIGN_WRITER = re.compile(r"^mcp__.*(?:write|edit|create|append|delete|remove|move|insert|replace|patch)")


class Kind(Struct, gc=False):
    """`origin` of a record."""

    kind: str | None = None


class Part(Struct, gc=False):
    """A piece of a tool's output."""

    type: str | None = None
    text: str | None = None


class Input(Struct, gc=False):
    """What tools are asked, as far as it names files."""

    file_path: str | None = None
    notebook_path: str | None = None
    path: str | None = None
    command: str | None = None


class Block(Struct, gc=False):
    """A block of a message: text, image, a tool's use or its result."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Input | None = None
    tool_use_id: str | None = None
    content: str | list[Part] | None = None
    is_error: bool | None = None


class Message(Struct, gc=False):
    """The message of a `user` or `assistant` record."""

    content: str | list[Block] | None = None
    model: str | None = None
    stop_reason: str | None = None

    def blocks(self) -> list[Block]:
        """Its blocks; none where the content is plain text."""
        return self.content if isinstance(self.content, list) else []


class Attachment(Struct, gc=False):
    """Of an `attachment` record; only a queued command holds what a person may have typed."""

    type: str | None = None
    prompt: str | list[Block] | None = None
    source_uuid: str | None = None
    mode: str | None = field(name="commandMode", default=None)
    is_meta: bool | None = field(name="isMeta", default=None)
    origin: Kind | None = None


class Result(Struct, gc=False):
    """What the program noted about a tool's result."""

    interrupted: bool | None = None
    path: str | None = field(name="persistedOutputPath", default=None)


class Record(Struct, gc=False):
    """A line; everything else in it is skipped."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent: str | UnsetType | None = field(name="parentUuid", default=UNSET)
    logical_parent: str | None = field(name="logicalParentUuid", default=None)
    session: str | None = field(name="sessionId", default=None)
    other_session: str | None = field(name="session_id", default=None)
    timestamp: str | int | float | None = None
    cwd: str | None = None
    branch: str | None = field(name="gitBranch", default=None)
    version: str | None = None
    is_sidechain: bool | None = field(name="isSidechain", default=None)
    is_meta: bool | None = field(name="isMeta", default=None)
    is_summary: bool | None = field(name="isCompactSummary", default=None)
    is_error: bool | None = field(name="isApiErrorMessage", default=None)
    prompt_source: str | None = field(name="promptSource", default=None)
    turn_origin: str | None = field(name="turnOrigin", default=None)
    entrypoint: str | None = None
    origin: Kind | None = None
    forked: Kind | None = field(name="forkedFrom", default=None)
    attachment: Attachment | None = None
    message: Message | None = None
    result: str | Result | list[Raw] | None = field(name="toolUseResult", default=None)
    plan: str | None = field(name="planContent", default=None)
    source: str | None = field(name="rowSource", default=None)
    denial: str | None = field(name="toolDenialKind", default=None)
    answer: str | None = field(name="userFeedback", default=None)

    def prompted_by(self, text: str) -> Origin:
        """Whether a program gave the prompt (or the model, if only as a suggestion), or a person typed it."""
        entry = self.entrypoint or ""
        is_suggested = self.prompt_source == "suggestion_accepted"
        is_timed = text.startswith(_TASK) or entry.endswith("_trigger")
        if is_suggested or is_timed or self.turn_origin in _BY_HOST:
            return Origin.HEADLESS
        if self.turn_origin == "human" or (self.origin is not None and self.origin.kind == "human"):
            return Origin.HUMAN
        is_given = self.prompt_source == "sdk" and entry in _UNATTENDED
        return Origin.HEADLESS if is_given or entry.startswith(_PROGRAMS) else Origin.HUMAN

    def refusal(self) -> str:
        """What a person wrote who refused a call: the program's own note of it, not what a tool gave."""
        return (self.answer or "").strip() if self.denial == "user-rejected" else ""

    def is_plan(self) -> bool:
        """True where a person approved the model's plan, which goes on from there as a prompt."""
        return self.plan is not None or (self.origin is not None and self.origin.kind == "auto-continuation")

    def above(self) -> str | None:
        """The parent's id, through a compaction's boundary; the session's root; None where unsaid."""
        if isinstance(self.parent, str):
            return self.parent
        return self.logical_parent or (f"root of {self.session}" if self.parent is None else None)


def prose(content: str | list[Block] | None) -> str:
    """Given a message's content, return what a person wrote of it: nothing if a wrapper leads.

    Envelopes that the program puts around or between are left out, an image or a document
    beside text leaves its name in brackets.
    """
    if isinstance(content, str):
        written = _opened(content.strip("\ufeff")).strip()
        return "" if _is_wrapper(written) else written
    pieces: list[str] = []
    is_spoken = False
    for kind, text in _pieces(content):
        if kind != "text":
            pieces.append(text)
            continue
        stripped = _opened(text).strip()
        if not _is_wrapper(stripped):
            pieces += [stripped] if stripped else []
            is_spoken = is_spoken or bool(stripped)
        elif not pieces:
            return ""
    return "\n\n".join(pieces) if is_spoken else ""


def feedback(content: str | list[Block] | None, plan: str | None) -> str:
    """Given a plan that goes on as a prompt, return what the person who approved it wrote below it."""
    if not plan:
        return ""
    approved = f"{_APPROVED}{plan}"
    text = plain(content)
    return text[len(approved) :].partition(_FEEDBACK)[2].strip() if text.startswith(approved) else ""


def _is_wrapper(text: str) -> bool:
    return text.startswith(_WRAPPERS) or _TOLD.fullmatch(text) is not None


def _opened(text: str) -> str:
    """Given a text, return it without the envelopes in it."""
    if "</" not in text:
        return text
    for name in _ENVELOPES:
        kept: list[str] = []
        position = 0
        while (start := text.find(f"<{name}", position)) >= 0:
            end = text.find(f"</{name}>", start)
            if end < 0:
                break
            kept.append(text[position:start])
            position = end + len(name) + 3
        text = "".join(kept) + text[position:]
    for name in (*_SHOWING, *_LEADING):
        start, end = text.find(f"<{name}>"), text.rfind(f"</{name}>")
        if 0 <= start < end and not (name in _LEADING and text[:start].strip()):
            text = text[:start] + text[end + len(name) + 3 :]
    return hosted(text)[1]


def plain(content: str | list[Block] | list[Part] | None) -> str:
    """Given a message's or a result's content, return all its text, images by name in brackets."""
    if isinstance(content, str):
        return content.strip("\ufeff")
    return "\n\n".join(text for _, text in _pieces(content) if text)


def _pieces(content: str | list[Block] | list[Part] | None) -> Iterable[tuple[str, str]]:
    """The texts of a content, each with its type; what is not text is named."""
    if isinstance(content, str):
        yield "text", content.strip("\ufeff")
        return
    for block in content or ():
        if block.type in ("image", "document"):
            yield block.type, f"[{block.type}]"
        elif block.text is not None and block.type in ("text", None):
            yield "text", block.text.strip("\ufeff")


def calls(block: Block, cwd: str | None) -> tuple[ToolCall, ...]:
    """Given a tool's use, return the call; one that both reads and writes comes twice, by its id."""
    name, call = block.name or "", block.id or ""
    asked = block.input or Input()
    if name in _SHELLS:
        written, read = shell_touches(asked.command or "", cwd)
        if written and read:
            return (
                ToolCall(id=call, name=name, paths=written, writes=True),
                ToolCall(id=call, name=name, paths=read),
            )
        return (ToolCall(id=call, name=name, paths=written or read, writes=bool(written)),)
    named = asked.file_path or asked.notebook_path or asked.path
    paths = (absolute(named, cwd),) if named else ()
    writes = name in _WRITERS or bool(_FOREIGN_WRITER.match(name))
    return (ToolCall(id=call, name=name, paths=paths, writes=writes and bool(paths)),)


def succeeded(block: Block, result: str | Result | list[Raw] | None) -> bool:
    """Given a tool's result and the program's note, return whether the tool did what it was asked."""
    if block.is_error:
        return False
    if isinstance(result, str):
        return not result.startswith(("User rejected", "Error", "Interrupted"))
    return not (isinstance(result, Result) and result.interrupted)
