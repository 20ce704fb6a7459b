"""What Hermes puts round a person's words, and what it says to itself in a person's place."""

from __future__ import annotations

import re

_ITS_OWN = re.compile(
    r"\s*(?:\[(?:SYSTEM:|ASYNC DELEGATION|Continuing toward (?:your standing goal|this kanban task)"
    r"|Background process |IMPORTANT: (?:The user (?:has invoked|launched)|Background process|MCP servers"
    r'|You are running as a scheduled|The "[^"\n]*" skill is|The following skill))'
    r"|You've reached the maximum number of tool-calling iterations|You just executed tool calls but returned"
    r"|Continue from the compressed conversation context above\."
    r"|Review the conversation above and (?:update the skill|consider saving))",
    re.IGNORECASE,
)
_SKILL = re.compile(r"\s*\[IMPORTANT: The user has invoked the ")
_BUNDLE = re.compile(r"(?>.*?\[IMPORTANT: ).* skill bundle,")
_ASKED = "\n\nThe user has provided the following instruction alongside the skill invocation: "
_ASKED_OF_BUNDLE = "\nUser instruction: "
_OF_ONE = " loaded below.]"
"""How the head of a single skill ends, whatever the skill is called."""
_BEHIND = re.compile(
    r"^\[(?:Skill (?:directory|config|setup)|This skill has supporting files)\b", re.MULTILINE
)
"""What follows a skill's own text, and nothing that a person asks of it."""
_NOTE = re.compile(
    r"\s*\[(?:System note|Note: model was just switched|The user sent|User sent|Replying to|Voice channel now"
    r"|Triggering message id|Runtime note)\b",
    re.IGNORECASE,
)
_VOICE = re.compile(r"\s*\[Voice input\b[^\]\n]*\]")
_FILE = re.compile(r"^\[Content of [^\]\n]*\]:\n", re.MULTILINE)
_BELOW = re.compile(r"\n\n--- (?:Context Warnings|Attached Context) ---\n")
_AFTER = re.compile(r"\n\n\[(?:System|Runtime) note: [^\]]{0,4096}\]\s*\Z", re.IGNORECASE)
_RECALLED = re.compile(r"<memory-context>(?:.*</memory-context>|.*)", re.DOTALL)
_NEW = "\n\n[New message]\n"


def typed_in(text: str) -> str | None:
    """Given a user's text, return what a person typed in it, or None.

    What is put before the words is cut to its last end, and what is put behind them from its first
    beginning: a quoted message or a file may hold such marks too.
    """
    if _SKILL.match(text):
        return _instruction(text)
    text = _AFTER.sub("", _RECALLED.sub("", _BELOW.split(text, maxsplit=1)[0]))
    text = _VOICE.sub("", text.rpartition(_NEW)[2], count=1)
    if _NOTE.match(text):
        _, found, text = text.rpartition("]\n\n")
        text = text if found else ""
    if _ITS_OWN.match(text) or _FILE.search(text):
        return None
    return text.strip() or None


def _instruction(text: str) -> str | None:
    """What was asked of a skill, after its whole text; of several, before their texts."""
    head = text.partition("\n\n[Loaded as part of the ")[0]
    if _BUNDLE.match(text) and _OF_ONE not in head:
        return head.partition(_ASKED_OF_BUNDLE)[2].strip() or None
    _, found, asked = text.rpartition(_ASKED)
    if not found or _BEHIND.search(asked):
        return None
    return asked.partition("\n\n[Runtime note:")[0].strip() or None
