"""What is needed of Codex's records, and what in them a person wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Raw, Struct, field

from extractord.core.transcripts.recorded import hosted

_SUMMARY = "Another language model started to solve this problem and produced a summary"
_WRAPPERS = (
    "# AGENTS.md",
    "<INSTRUCTIONS>",
    "<agent_message_board_notification>",
    "<apps_instructions>",
    "<catalog_apps_instructions>",
    "<codex_delegation>",
    "<codex_internal_context",
    "<collaboration_mode>",
    "<command_sessions>",
    "<content_filter_guidance>",
    "<context_window",
    "<current_time_",
    "<environment_context>",
    "<environments",
    "<extension_context>",
    "<external_",
    "<git_attribution>",
    "<goal_context>",
    "<heartbeat>",
    "<hook_prompt",
    "<image_resize_notice>",
    "<managed_developer_instructions>",
    "<model_switch>",
    "<multi_agent_",
    "<permissions instructions>",
    "<persistent_mode>",
    "<personality_spec>",
    "<plugins_instructions>",
    "<realtime_",
    "<recommended_plugins>",
    "<rollout_budget>",
    "<side_conversation>",
    "<skill",
    "<startup_context>",
    "<subagent_notification>",
    "<thread_",
    "<token_budget",
    "<turn_aborted>",
    "<user_action>",
    "<user_instructions>",
    "<user_shell_command>",
    "<user_verification_notice>",
    _SUMMARY,
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    "Codex could not read the local image at `",
    "Codex cannot attach image at `",
    "Image located at `",
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: apply_patch was requested via",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
)
_IMAGE = re.compile(r"<image(?: [^\n]*)?>|</image>")
_TEMPLATE = re.compile(
    "Generate a file named AGENTS.md that serves as a contributor guide for this repository"
    r"|Automation: [^\n]*\n+Automation ID: "
)
_PLACE = re.compile(r"<environment_context>\s*(?:<cwd>([^<\n]+)</cwd>|Current working directory: ([^\n]+))")
_IDE = "# Context from my IDE setup:"
_REQUEST = re.compile(r"^## My request for Codex:", re.MULTILINE)
"""What stands before it is what an IDE or the desktop's application put there."""
CALLS = frozenset(["function_call", "custom_tool_call", "local_shell_call"])
OUTPUTS = frozenset(["function_call_output", "custom_tool_call_output", "local_shell_call_output"])
ITEMS = CALLS | OUTPUTS | {"message"}
_SILENT_ITEMS_NAMES = """
    reasoning web_search_call tool_search_call tool_search_output image_generation_call agent_message
    compaction compaction_summary context_compaction ghost_snapshot other"""
SILENT_ITEMS = frozenset(_SILENT_ITEMS_NAMES.split())
STARTS = frozenset(["task_started", "turn_started"])
ENDS = frozenset(["task_complete", "turn_complete", "turn_aborted"])
TOOL_ENDS = frozenset(["exec_command_end", "patch_apply_end"])
_SILENT_EVENTS_NAMES = """
    agent_message agent_reasoning agent_reasoning_raw_content token_count item_completed
    item_started context_compacted entered_review_mode exited_review_mode thread_goal_updated error warning
    thread_settings_applied sub_agent_activity mcp_tool_call_end web_search_end image_generation_end
    view_image_tool_call dynamic_tool_call_response thread_name_updated stream_error
    collab_agent_spawn_end collab_waiting_end collab_close_end collab_resume_end
    collab_agent_interaction_end"""
SILENT_EVENTS = frozenset(_SILENT_EVENTS_NAMES.split())
_SILENT_NAMES = """
    world_state token_usage_record inter_agent_communication inter_agent_communication_metadata
    state"""
SILENT = frozenset(_SILENT_NAMES.split())


class Git(Struct, gc=False):
    """Where the checkout stood when the session began."""

    branch: str | None = None


class Base(Struct, gc=False):
    """From where on an older file of the thread is void."""

    thread_id: str | None = None
    end: int | None = field(name="end_ordinal_exclusive", default=None)


class Part(Struct, gc=False):
    """A piece of a message or of a tool's output."""

    type: str | None = None
    text: str | None = None


class Provenance(Struct, gc=False):
    """What newer versions say about a message."""

    turn_id: str | None = None
    kinds: list[str | None] | None = field(name="content_item_kinds", default=None)


class Action(Struct, gc=False):
    """Of a `local_shell_call`."""

    command: list[str] | None = None
    working_directory: str | None = None


_HOST = b'"custom"'
"""Of a source that is an object: a program in which a person uses Codex; any other is of its own kind."""


class Payload(Struct, gc=False):
    """What a line carries, and what a bare line of an old version is."""

    type: str | None = None
    id: str | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    git: Git | None = None
    session_id: str | None = None
    forked_from: str | None = field(name="forked_from_id", default=None)
    parent_thread: str | None = field(name="parent_thread_id", default=None)
    originator: str | None = None
    version: str | None = field(name="cli_version", default=None)
    source: Raw = Raw()
    thread_source: str | None = None
    history_base: Base | None = None
    turn_id: str | None = None
    role: str | None = None
    content: str | list[Part] | None = None
    provenance: Provenance | None = field(name="internal_chat_message_metadata_passthrough", default=None)
    name: str | None = None
    arguments: Raw = Raw()
    input: str | None = None
    call_id: str | None = None
    output: Raw = Raw()
    action: Action | None = None
    message: str | list[Part] | None = None
    num_turns: int | None = None
    exit_code: int | None = None
    success: bool | None = None

    def is_subagent(self) -> bool:
        """True if the session's prompts come from an agent's model or from the program itself."""
        source = bytes(self.source)
        is_ours = source[:1] == b"{" and not source[1:].lstrip().startswith(_HOST)
        return is_ours or self.thread_source in ("subagent", "memory_consolidation")

    def is_headless(self) -> bool:
        """True if a program gives the session's prompts."""
        is_timed = self.thread_source not in (None, "", "user")
        is_given = (self.originator or "").startswith(("codex_exec", "codex_sdk"))
        return is_timed or is_given or bytes(self.source) in (b'"exec"', b'"mcp"')


class Line(Struct, gc=False):
    """A line; old versions have no payload."""

    type: str | None = None
    timestamp: str | int | float | None = None
    ordinal: int | None = None
    payload: Payload | None = None


def prose(payload: Payload) -> tuple[str, str]:
    """Given a user's message, return what a person wrote of it, and the rest.

    Each block is tested alone, by the kind that the record gives it and by how it begins.
    """
    written: list[str] = []
    rest: list[str] = []
    content = payload.content if payload.content is not None else payload.message
    kinds = (payload.provenance.kinds if payload.provenance else None) or []
    for nth, (kind, text) in enumerate(_pieces(content)):
        recorded = kinds[nth] if nth < len(kinds) else None
        if kind == "image":
            written.append("[image]")
        elif _is_wrapper(text) or not (recorded or "user").startswith("user"):
            rest.append(text)
        else:
            around, said = _around(text)
            rest += [around] if around else []
            written.append(said)
    if not any(text and text != "[image]" for text in written):
        return "", "\n\n".join(rest + [text for text in written if text])
    return "\n\n".join(text for text in written if text), "\n\n".join(rest)


def is_template(text: str) -> bool:
    """True for the prompt that the program's own command gives in a person's name."""
    return _TEMPLATE.match(text) is not None


def is_summary(text: str) -> bool:
    """True for a compaction's summary, as it is given to the model."""
    return text.startswith(_SUMMARY)


def place_in(text: str) -> str | None:
    """Given what the program put around prompts, return the working directory where it tells it."""
    found = _PLACE.search(text)
    return (found[1] or found[2]).strip() if found else None


def _is_wrapper(text: str) -> bool:
    return text.startswith(_WRAPPERS) or _IMAGE.fullmatch(text) is not None


def _around(text: str) -> tuple[str, str]:
    """Given a prompt, return what was put before it, and what a person wrote: after the last mark."""
    marks = list(_REQUEST.finditer(text)) if text.startswith("# ") else []
    if marks:
        return text[: marks[-1].start()].strip(), text[marks[-1].end() :].strip()
    return (text, "") if text.startswith(_IDE) else hosted(text)


def plain(content: str | list[Part] | None) -> str:
    """Given a message's content, return its text."""
    return "\n\n".join(text for _, text in _pieces(content) if text)


def _pieces(content: str | list[Part] | None) -> Iterable[tuple[str, str]]:
    if isinstance(content, str):
        yield "text", content.strip("\ufeff \n")
        return
    for part in content or ():
        if part.type in ("input_image", "image", "local_image"):
            yield "image", "[image]"
        else:
            yield "text", (part.text or "").strip("\ufeff \n")
