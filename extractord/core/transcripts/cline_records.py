"""What stands in the documents of Cline and Roo Code, and whose words are in which of their tags."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Any

from msgspec import Struct

from extractord.core.transcripts.blocks import Content
from extractord.core.transcripts.decoding import decoder

_APPENDED = re.compile(
    r"(?>\A|(?<!\s)\s*?\n\n)\s*+"
    r"(?:\[read_file for |<(?:file_content|folder_content|url_content|workspace_diagnostics"
    r"|git_working_state|git_commit|terminal_output|environment_details|explicit_instructions|slash_command"
    r"|task_progress|command)\b)"
)
"""What a mention of a file or page is replaced by, after the person's own words."""
_INSTRUCTED = re.compile(
    r"\A\s*<explicit_instructions\b[^>\n]*>.*?</explicit_instructions>\s*(?=<(?:task|feedback|user_message|answer)>|\[)",
    re.DOTALL,
)
"""What a slash command is replaced by, before the person's own words."""
_COMPLETED = re.compile(r"\s*\[new_task completed\]|\s*Subtask \S+ completed\.")
"""What a sub-task gave."""
_TYPED = re.compile(r"<(task|feedback|user_message|answer)>")
_REPLIED = re.compile(
    r"\s*(?:\[The user [^\n]*\]\s+)?(?:The user [^\n<]*\n+)?<(feedback|answer|user_message)>\n?(.*?)\n?</\1>",
    re.DOTALL,
)
_COMMENTED = re.compile(
    r"\s*The user provided the following feedback:\n<feedback>\n(.*?)\n?</feedback>", re.DOTALL
)
"""A word that is given beside a tool's result, whichever the tool."""
_MEANWHILE = re.compile(r"\n<(feedback|user_message)>\n((?:(?!<\1>).)*)\n</\1>\s*\Z", re.DOTALL)
"""A word that is given while a command runs, behind what it said so far."""
_RUNS_ON = "Command is still running in "
_STATED = re.compile(r'\s*(\{"status":"(?:denied|approved|guidance)"(?:,"feedback":"(?:[^"\\]|\\.)*")?\})')
"""How Roo Code says since 3.37 what a person answered."""
_ASKING = frozenset(
    {
        "attempt_completion",
        "ask_followup_question",
        "plan_mode_respond",
        "act_mode_respond",
        "write_to_file",
        "replace_in_file",
        "apply_diff",
        "apply_patch",
        "insert_content",
        "search_and_replace",
        "search_replace",
        "edit",
        "edit_file",
        "execute_command",
        "switch_mode",
        "update_todo_list",
        "new_task",
        "new_rule",
        "condense",
        "summarize_task",
        "report_bug",
    }
)
"""Tools in whose result a person may answer; any other gives what files, pages and servers say."""
_LEADING = frozenset({"search_files", "codebase_search", "browser_action", "fetch_instructions"})
"""Tools of Roo Code that begin what they found with words of their own: a statement there is no find."""
_TO_A_READING = re.compile(r"\s*(?:File: |<files?>)")
"""What follows a statement to the reading of a file, whose contents never come first."""
_RESULT = re.compile(r"\[([\w-]+)(?: for [^\n]*)?\] Result:\s*")
_XML = re.compile(
    r"<(write_to_file|replace_in_file|apply_diff|insert_content|search_and_replace|execute_command|read_file"
    r"|list_files|search_files)>"
)
_ARGUMENTS = ("path", "command", "cwd")
_WORKSPACE = re.compile(r"# Current (?:Working|Workspace) Directory \(([^()\n]+)\)")
_SAID = re.compile(
    rb'\{"ts":\s*(\d+),\s*"type":\s*"say",\s*"say":\s*"(task|text|user_feedback)",\s*"text":\s*("(?:[^"\\]|\\.)*")'
)
_FAILED = re.compile(
    r"\s*(?:The user denied|The tool execution failed|Tool \[|\[ERROR\]|Error|Skipping (?:MCP )?tool "
    r"|Missing value for required|Access to [^\n]* is blocked by|This tool cannot be used in PLAN MODE"
    r"|\[\w+ for '[^\n]*'\] The '|CRITICAL: \[)"
    r"|.*(?:<error>|\"status\":\"error\"|Exit code: [1-9])",
    re.DOTALL,
)
_DENIED = re.compile(r'\s*\{"status":"denied"')


class ApiMessage(Struct):
    """A message as it was sent to the model."""

    role: str = ""
    content: Content = None
    ts: Any = None
    type: str | None = None
    isSummary: Any = None  # noqa: N815 - the record's own name
    isTruncationMarker: Any = None  # noqa: N815


class ApiHistory(Struct):
    """The messages since Roo Code gives their version."""

    messages: list[ApiMessage] | None = None


class UiMessage(Struct):
    """A message as it was shown to the person."""

    ts: Any = None
    type: str | None = None
    say: str | None = None
    ask: str | None = None
    text: str | None = None
    partial: Any = None
    role: str | None = None
    contextCondense: Any = None  # noqa: N815


class Answer(Struct):
    """How a person decided, and what they said to it."""

    feedback: str | None = None


class HistoryItem(Struct):
    """What Roo Code keeps of a task beside."""

    workspace: str | None = None
    parentTaskId: str | None = None  # noqa: N815


SILENT = re.compile(
    r"api_req\w*|\w+_(?:error|warning|result|reached|limit|status)|mcp_\w+|browser_\w+|use_\w+|load_\w+|hook\w*"
    r"|checkpoint\w*|subtask\w*|reasoning|command_output|resume_\w+|completion_result|followup|plan_mode_respond"
    r"|user_feedback_diff|user_edit_todos|info|error|task_progress|deleted_api_reqs|new_task|condense|report_bug"
    r"|summarize_task|sliding_window_truncation|image|text|codebase_search_result|generate_explanation"
)
"""What is shown and is neither a person's nor the model's words."""
API = decoder(list[ApiMessage])
_VERSIONED = decoder(ApiHistory)
UI = decoder(list[UiMessage])
HISTORY = decoder(HistoryItem)
_TEXT = decoder(str)
_FEEDBACK = decoder(Answer)


def sent_in(record: bytes) -> list[ApiMessage] | None:
    """Given the document of what was sent, return its messages; None for what is none."""
    if not record.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        return API(record)
    found = _VERSIONED(record)
    return found.messages if found is not None else None


def without_instructions(text: str) -> str:
    """Given a text of a user's message, return it without what a slash command put before it."""
    return _INSTRUCTED.sub("", text)


def typed_in(text: str) -> str | None:
    """Given a text of a user's message that is no tool's result, return what a person typed, or None."""
    if _STATED.match(text):
        return _stated(text)[0]
    if _COMPLETED.match(text):
        return None
    own = _APPENDED.split(text, maxsplit=1)[0]
    match = _TYPED.search(own)
    inner = _up_to(own, match.end(), match[1]) if match else None
    return inner.strip() if inner is not None else None


def _up_to(text: str, start: int, tag: str) -> str | None:
    """What stands from a place on to the next end of a tag; None where it never ends."""
    end = text.find(f"</{tag}>", start)
    return text[start:end] if end >= 0 else None


def replied_in(tool: str, text: str, *, beside: bool = False, given: Container[str] = ()) -> str | None:
    """Given a tool's result, or what stands `beside` it, return what a person answered in it, or None.

    What a file or a server gave may look like an answer too: of it, only what was shown as `given` is one.
    """
    stated, rest = _stated(text)
    if stated is not None:
        said = stated.strip()
        is_own = tool in _ASKING or tool in _LEADING or _is_to_a_reading(tool, rest)
        return said if is_own or said in given else None
    if tool not in _ASKING:
        match = _COMMENTED.match(rest) if beside else None
        return match[1].strip() if match else None
    runs_on = rest.lstrip().startswith(_RUNS_ON)
    match = _MEANWHILE.search(rest) if runs_on else _REPLIED.match(rest)
    return match[2].strip() if match else None


def _is_to_a_reading(tool: str, rest: str) -> bool:
    return tool == "read_file" and _TO_A_READING.match(rest) is not None


def _stated(text: str) -> tuple[str | None, str]:
    """What a person answered, in Roo Code's own statement before a result; and the result."""
    if (match := _STATED.match(text)) is None:
        return None, text
    found = _FEEDBACK(match[1].encode("utf-8", "replace"))
    return found.feedback if found is not None else None, text[match.end() :]


def result_of(text: str) -> tuple[str, str] | None:
    """Given a text of a user's message, return the tool whose result begins with it, and the rest of it."""
    match = _RESULT.match(text)
    return (match[1], text[match.end() :]) if match else None


def has_failed(result: str) -> bool:
    """True if a tool's result says that it was not done."""
    denied = _DENIED.match(result) is not None
    return denied or _FAILED.match(_stated(result)[1]) is not None


def asked_in(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Given an assistant's text, return the calls written in it as XML."""
    position, endless = 0, set[str]()
    while (match := _XML.search(text, position)) is not None:
        position = match.end()
        inner = None if match[1] in endless else _up_to(text, position, match[1])
        if inner is None:
            endless.add(match[1])
            continue
        position += len(inner)
        arguments: dict[str, str] = {}
        for name in _ARGUMENTS:
            begin = inner.find(f"<{name}>")
            value = _up_to(inner, begin + len(name) + 2, name) if begin >= 0 else None
            if value is not None:
                arguments[name] = value.strip()
        yield match[1], arguments


def workspace_in(text: str) -> str | None:
    """Given what the editor said of itself, return the directory that it works in."""
    match = _WORKSPACE.search(text)
    return match[1] if match else None


def times_in(raw: bytes) -> Iterator[tuple[str, int, bool]]:
    """Given the file of what was shown, however it ends, return what was said in it, with times in ms.

    And whether it is what a person answered.
    """
    for match in _SAID.finditer(raw):
        found = _TEXT(match[3])
        if found is not None:
            yield found.strip(), int(match[1][:15]), match[2] == b"user_feedback"
