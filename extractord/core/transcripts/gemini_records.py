"""What stands in Gemini CLI's op logs and documents, and by which marks its own texts are told."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.genai import Content, text_of

SYNTHETIC = re.compile(
    r"\s*(?:<session_context>|This is the Gemini CLI\. We are setting up the context"
    r"|(?:System: )?Please continue\.\s*\Z|System: Potential loop detected\."
    r"|\[System: You (?:successfully|previously)|Background execution update:"
    r"|User has manually exited Plan Mode\. Switching to |- \*\*Workspace Directories:\*\*\s*\n"
    r"|I ran the following shell command:"
    r"|Here is (?:the user's editor context|a summary of changes in the user's editor context))"
)
_STEERED = re.compile(
    r"(?:User steering update|User hints):\s*<user_input>(.*)</user_input>"
    r"\s*Internal instruction: [^\n]{0,4096}\Z",
    re.DOTALL,
)
SNAPSHOT = re.compile(
    r"\s*(?:<(?:state_snapshot|intent_summary)>|<scratchpad>.*<state_snapshot>"
    r"|### \[System Note: Conversation History Truncated\])",
    re.DOTALL,
)
DERIVED_ID = re.compile(r"[0-9a-f]{32}")
"""An id that the agent derives from what it wrote itself, the same in every session; else it is a UUID."""
WORKSPACE = re.compile(r"Workspace Directories:\*\*\s*\n\s*- ([^\n]+)")
CANCELLED = "Request cancelled."
OUTCOMES = {"success": True, "error": False, "cancelled": False}


class Call(Struct):
    """A tool call in a message, with its result once it has one."""

    id: str | None = None
    name: str | None = None
    args: Any = None
    status: str | None = None
    result: Any = None


class Op(Struct):
    """Any line, message or document: which it is shows in what it has."""

    id: str | None = None
    type: str | None = None
    timestamp: Any = None
    content: Content = None
    displayContent: Content = None  # noqa: N815
    parts: Content = None
    toolCalls: list[Call] | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815
    kind: str | None = None
    directories: list[str] | None = None
    messages: list[Op] | None = None
    change: Op | None = field(default=None, name="$set")
    rewind: str | None = field(default=None, name="$rewindTo")


DECODER = decoder(Op)


def steered(text: str) -> str | None:
    """Given a user's text, return what a person said to an agent at work; None where it is none of that.

    Nothing where output of a background command stands there instead.
    """
    found = _STEERED.match(text.strip())
    if found is None:
        return None
    return "" if "<background_output>" in found[1] else found[1].strip().removeprefix("- ")


class Prompted:
    """The last prompt, by which is known why a hook had the agent go on.

    That is written down as if the prompt was typed again. A command's prompt is other words than what
    was typed, too, and may be other words each time.
    """

    def __init__(self) -> None:
        self._last: tuple[str | None, str] = (None, "")

    def again(self, op: Op, text: str, typed: str | None) -> bool:
        """True for a hook's; else the message is the last prompt from now on."""
        shown = (typed or text).strip()
        ident, last = self._last
        if shown == last and op.id != ident and shown not in text and not shown.startswith("/"):
            return True
        self._last = (op.id, shown)
        return False


def words_of(message: Op) -> int:
    """A mark of who said what, by which a message is known again under another id."""
    return hash((message.type, text_of(message.content)))
