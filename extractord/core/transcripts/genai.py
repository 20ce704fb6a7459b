"""Contents as Google's API shapes them, which Gemini CLI and Qwen Code record, and the tools they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from extractord.core.transcripts.toolcalls import Takes

SHELL = "run_shell_command"
TOOLS = {
    "read_file": Takes("read", ("file_path", "absolute_path", "path")),
    "list_directory": Takes("read", ("dir_path", "path")),
    "glob": Takes("read", ("dir_path", "path")),
    "grep_search": Takes("read", ("dir_path", "path")),
    "search_file_content": Takes("read", ("dir_path", "path")),
    "write_file": Takes("write", ("file_path", "path")),
    "replace": Takes("write", ("file_path", "path")),
    "edit": Takes("write", ("file_path", "path")),
    SHELL: Takes("shell", ("command",), ("dir_path", "directory", "cwd")),
}
WRAPPERS = re.compile(
    r"<(hook_context|qwen:user-prompt-submit-context)>(?:.*</\1>|.*)"
    r"|^--- Content from referenced files ---$(?:.*^--- End of content ---$|.*)"
    r"|^--- Content from referenced context ---$.*",
    re.DOTALL | re.MULTILINE,
)
"""What hooks, `@file` and editors put round a person's words, to the last end mark: a file may hold one."""

TEMPLATE = re.compile(
    r"\s*(?:You are an AI agent that brings the power of Gemini directly into the terminal\. Your task is to"
    r"|You are Qwen Code, an interactive CLI agent\.) [Aa]nalyze the current directory"
)
"""How the prompt begins that `/init` gives in a person's name."""

_EXIT = re.compile(r"^Exit Code: (-?\d+)\s*$", re.MULTILINE)


class Function(Struct):
    """A call (`args`) or its answer (`response`)."""

    id: str | None = None
    name: str | None = None
    args: Any = None
    response: Any = None


class Part(Struct):
    """One part of a content."""

    text: str | None = None
    thought: Any = None
    functionCall: Function | None = None  # noqa: N815 - the record's own name
    functionResponse: Function | None = None  # noqa: N815


Content = str | Part | Sequence[str | Part] | None


def parts_of(content: Content) -> list[Part]:
    """Given a content in any of its forms, return its parts."""
    match content:
        case None:
            return []
        case str():
            return [Part(text=content)]
        case Part():
            return [content]
        case _:
            return [Part(text=part) if isinstance(part, str) else part for part in content]


def text_of(content: Content) -> str:
    """Given a content, return its text, without thoughts."""
    return "\n".join(part.text for part in parts_of(content) if part.text and not part.thought)


def asked_in(content: Content) -> list[Function]:
    """Given a content, return the calls in it."""
    return [part.functionCall for part in parts_of(content) if part.functionCall is not None]


def answered_in(content: Content) -> list[Function]:
    """Given a content, return the answers to calls in it."""
    return [part.functionResponse for part in parts_of(content) if part.functionResponse is not None]


def output_of(result: object, depth: int = 6) -> str:
    """Given a tool's result (parts, a response, or a text), return its text, as deep as agents nest it."""
    match result:
        case str():
            return result
        case _ if depth == 0:
            return ""
        case list():
            return "\n".join(filter(None, (output_of(each, depth - 1) for each in result)))
        case {"functionResponse": {"response": inner}}:
            return output_of(inner, depth - 1)
        case {"output": inner} | {"error": inner} | {"text": inner}:
            return output_of(inner, depth - 1)
        case _:
            return ""


def exited_badly(tool: str | None, output: str) -> bool:
    """True if the shell tool reports an exit code that is not 0; the call itself counts as a success."""
    codes = _EXIT.findall(output) if tool == SHELL else []
    return bool(codes) and codes[-1] != "0"
