"""What in Claude Code's records a person wrote, and what the program puts in their place or round it."""

from __future__ import annotations

import re

from extractord.core.records import Origin
from extractord.core.transcripts.claude_records import Attachment, Block, Record, plain, texts
from extractord.core.transcripts.recorded import hosted

INTERRUPTED = "[Request interrupted"
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
    INTERRUPTED,
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
    "[Cross-session idle notice]",
    "A peer session sent a message",
    "Another Claude session sent a message",
    "Goal check-in: \u00ab",
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
MADE_BY = frozenset(["harness", "hook"])
_PROGRAMS = ("sdk", "mcp", "bench", "claude-code-github-action", "claude-security")
_UNATTENDED = frozenset(["", "cli"])
"""Where `sdk` as a prompt's source means a program: an editor passes on what is typed as `sdk` too."""
_BY_HOST = frozenset(
    ["scheduled", "auto_continuation", "host_synthetic", "peer", "system", "task_notification"]
)
_NOBODY = frozenset([b"", b"null", b"false"])
_TASK = "<scheduled-task "
_APPROVED = "Implement the following plan:\n\n"
_FEEDBACK = "\n\nUser feedback on this plan: "


def written(row: Record, content: str | list[Block] | None) -> str:
    """Given a user's record and its content, return what a person wrote in it."""
    if _is_plan(row):
        return _feedback(content, row.plan)
    return "" if is_harness(row) else prose(content)


def prompted_by(row: Record, text: str) -> Origin:
    """Whether a program gave the prompt (or the model, if only as a suggestion), or a person typed it."""
    entry = row.entrypoint or ""
    is_suggested = row.prompt_source == "suggestion_accepted"
    is_timed = text.startswith(_TASK) or entry.endswith("_trigger") or row.wakeup is not None
    is_driven = row.turn_origin in _BY_HOST or (row.kind or "").startswith("daemon")
    if is_suggested or is_timed or is_driven or is_handed_on(row):
        return Origin.HEADLESS
    if row.turn_origin == "human" or (row.origin is not None and row.origin.kind == "human"):
        return Origin.HUMAN
    is_given = row.prompt_source == "sdk" and entry in _UNATTENDED
    return Origin.HEADLESS if is_given or entry.startswith(_PROGRAMS) else Origin.HUMAN


def refusal(row: Record) -> str:
    """What a person wrote who refused a call: the program's own note of it, not what a tool gave."""
    is_persons = row.denial == "user-rejected" and not (row.is_hosts_denial or row.is_late_denial)
    return (row.answer or "").strip() if is_persons else ""


def is_handed_on(said: Record | Attachment) -> bool:
    """True if it came otherwise than by a person's typing it here, whoever it was."""
    is_moved = isinstance(said, Record) and said.is_handed_off
    is_recorded = said.source == "recorded"
    return bool(is_moved or is_recorded or said.is_untyped or said.is_rewritten or said.is_slacks)


def is_strangers(said: Record | Attachment) -> bool:
    """True if somebody else wrote it: whoever sent a mail, or what a connector brought."""
    return bool(said.is_connectors) or bytes(said.sender) not in _NOBODY


def is_harness(row: Record) -> bool:
    """True if the record says that no person wrote it, or none of this session."""
    if row.is_meta or row.is_summary or row.prompt_source == "system" or row.source in MADE_BY:
        return True
    if row.is_virtual or is_strangers(row):
        return True
    return row.origin is not None and row.origin.kind not in (None, "human")


def prose(content: str | list[Block] | None) -> str:
    """Given a message's content, return what a person wrote of it: nothing if a wrapper leads.

    Envelopes that the program puts around or between are left out, an image or a document
    beside text leaves its name in brackets.
    """
    if isinstance(content, str):
        typed = _opened(content.strip("\ufeff")).strip()
        return "" if _is_wrapper(typed) else typed
    pieces: list[str] = []
    is_spoken = False
    for kind, text in texts(content):
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


def _is_plan(row: Record) -> bool:
    """True where a person approved the model's plan, which goes on from there as a prompt."""
    return row.plan is not None or (row.origin is not None and row.origin.kind == "auto-continuation")


def _feedback(content: str | list[Block] | None, plan: str | None) -> str:
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
