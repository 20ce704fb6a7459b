"""What Cursor puts round a person's words, in every form that it keeps a transcript in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role
from extractord.core.transcripts.blocks import Content, opening, said_in, text_of
from extractord.core.transcripts.speech import Speech

_QUERY = re.compile(r"<user_query>\n?(.*?)(?:\n?</user_query>|\Z)", re.DOTALL)
_WRAPPER_NAMES = """
    user_info attached_files system_reminder system-reminder git_status project_layout rules user_rules
    always_applied_workspace_rules agent_requestable_workspace_rules agent_skills agent_transcripts
    open_and_recently_viewed_files additional_data current_file linter_errors external_links image_files
    terminal_files_information cursor_commands manually_attached_skills manually_added_selection
    selected_code code_selection mcp_file_system task_notification system_notification timestamp"""
_WRAPPERS = re.compile(
    rf"^<({'|'.join(_WRAPPER_NAMES.split())})\b[^<>]*>(?:.*</\1>|.*)", re.DOTALL | re.MULTILINE
)
"""What the editor puts round a person's words, to the last end mark: a file may hold one too."""
_WORKSPACE = re.compile(r"^Workspace Path: ([^\n]+)$", re.MULTILINE)


def queries_in(text: str) -> list[str]:
    """Given a user's text, return what stands in it as asked, outside what was put round it."""
    return _QUERY.findall(_WRAPPERS.sub("", text))


def is_marked(role: str, content: Content) -> bool:
    """True for a user's message in which is marked what was asked: in its session all are."""
    return role == "user" and bool(queries_in(text_of(content)))


def said_by(speech: Speech, role: str, content: Content, *, are_marked: bool) -> Iterator[Entry]:
    """Given a message, yield what it says; known by its words, which all forms have in common.

    Where queries `are_marked`, a user's message without one is the agent's own.
    """
    text = text_of(content)
    if role == "user" and (place := _WORKSPACE.search(text)):
        speech.cwd = speech.cwd or place[1].strip()
    entry = opening(speech, role, text)
    queries = queries_in(text) if role == "user" else []
    if role == "user" and are_marked and not queries:
        entry = replace(entry, role=Role.CONTEXT, origin=_no_persons(entry.origin))
    yield from said_in(speech, role, content, entry, _WRAPPERS, "\n".join(queries) if queries else None)


def _no_persons(origin: Origin) -> Origin:
    return Origin.SYNTHETIC if origin is Origin.HUMAN else origin
