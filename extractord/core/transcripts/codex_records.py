"""What is needed of Codex's records, and the texts in their contents."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Raw, Struct, field

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


def plain(content: str | list[Part] | None) -> str:
    """Given a message's content, return its text."""
    return "\n\n".join(text for _, text in pieces(content) if text)


def pieces(content: str | list[Part] | None) -> Iterable[tuple[str, str]]:
    """The texts of a content, each with its kind; what is not text is named."""
    if isinstance(content, str):
        yield "text", content.strip("\ufeff \n")
        return
    for part in content or ():
        if part.type in ("input_image", "image", "local_image"):
            yield "image", "[image]"
        elif part.type in ("input_audio", "audio", "local_audio"):
            yield "audio", "[audio]"
        else:
            yield "text", (part.text or "").strip("\ufeff \n")
