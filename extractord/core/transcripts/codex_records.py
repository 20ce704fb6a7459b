"""What is needed of Codex's records, and what in them a person wrote."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Raw, Struct, field

_WRAPPERS = (
    "# AGENTS.md",
    "<environment_context>",
    "<environments",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill",
    "<subagent_notification>",
    "<goal_context>",
    "<codex_internal_context",
    "<recommended_plugins>",
    "<plugins_instructions>",
    "<apps_instructions>",
    "<collaboration_mode>",
    "<user_shell_command>",
    "<user_action>",
    "<model_switch>",
    "<hook_prompt",
    "<image",
    "</image>",
)
_IDE = "# Context from my IDE setup:"
_REQUEST = "## My request for Codex:"
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
    user_message agent_message agent_reasoning agent_reasoning_raw_content token_count item_completed
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
        return self.thread_source == "subagent" or bytes(self.source)[:1] == b"{"

    def is_headless(self) -> bool:
        """True if a program gives the session's prompts."""
        originator = self.originator or ""
        return bytes(self.source) in (b'"exec"', b'"mcp"') or originator.startswith(
            ("codex_exec", "codex_sdk")
        )


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
        elif text.startswith(_WRAPPERS) or not (recorded or "user").startswith("user"):
            rest.append(text)
        elif text.startswith(_IDE):
            written.append(text.partition(_REQUEST)[2].strip())
        else:
            written.append(text)
    if not any(text and text != "[image]" for text in written):
        return "", "\n\n".join(rest + [text for text in written if text])
    return "\n\n".join(text for text in written if text), "\n\n".join(rest)


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
