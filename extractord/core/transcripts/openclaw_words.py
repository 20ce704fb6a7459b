"""What OpenClaw puts round a person's words, and what it says to itself in a person's place."""

from __future__ import annotations

import re

_MESSENGERS = (
    "Telegram|WhatsApp|Discord|Slack|Signal|iMessage|BlueBubbles|Matrix|Teams|MSTeams|Feishu|WebChat"
)
_BEFORE = re.compile(
    rf"""\s*(?:
        \[(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\ \d{{4}}-\d\d-\d\d|(?:{_MESSENGERS})\b)[^\]\n]*\]\ ?
        |System(?:\ \(untrusted\))?:(?:\ \[[^\n]*)?(?:\n|\Z)(?:System(?:\ \(untrusted\))?:[^\n]*(?:\n|\Z))*
        |[A-Z][a-z ]+\ \(untrusted(?:\ metadata|,\ for\ context)?\):\n```json\n.*?\n```(?=\s|\Z)
        |<(?P<recalled>[\w-]{{0,32}}memor[\w-]{{0,32}})>.*</(?P=recalled)>
        |Execution\ playbook:[ ]*\n(?:-\ [^\n]*(?:\n|\Z))+
        |\[media\ attached[^\n]*\](?:\n|\Z)
        |To\ send\ an\ image\ back,[^\n]*(?:\n|\Z)
        |(?:Note:\ )?The\ previous\ agent\ run\ was\ aborted\ by\ the\ user\.[^\n]*(?:\n|\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
"""A time, the messenger's name with who and when, events, what is known of a message, what came with it.

And what a plugin remembers for it: to its last end mark, since it may hold one too.
"""
_CONTEXT = re.compile(
    r"^<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>(?:.*^<<<END_OPENCLAW_INTERNAL_CONTEXT>>>[^\n]*|.*)",
    re.DOTALL | re.MULTILINE,
)
_AFTER = re.compile(
    r"(?:^Untrusted context \(metadata|^<<<(?:BEGIN_)?EXTERNAL_UNTRUSTED_CONTENT|^\[Replying to [^\n]*\]\n).*"
    r"|^\[message_id: [^\]\n]*\]\s*\Z",
    re.DOTALL | re.MULTILINE,
)
_SINCE = "[Chat messages since your "
_CURRENT = "[Current message - respond to this]\n"
_QUEUED = re.compile(r"\s*\[Queued messages while agent was busy\]")
_EACH = re.compile(r"^---\nQueued #\d+[^\n]*\n", re.MULTILINE)
_ITS_OWN = re.compile(
    r"\s*(?:(?:Read|When reading|如果存在|读取) HEARTBEAT\.md|HEARTBEAT(?:\.md|_|\s*\Z)"
    r"|Pre-compaction memory flush"
    r"|A new session was started via /\w+|OpenClaw runtime (?:context|event)|Agent-to-agent "
    r"|A scheduled (?:reminder has been|cron event was) triggered\b"
    r"|(?:---\n)?This system message is triggered by a scheduled cron job\."
    r"|An async command (?:you|the user|did|completion)|SECURITY NOTICE: The following content"
    r"|\[(?:cron:|hook:|Subagent |System\]|Inter-session message\]|Internal task completion event\]|OpenClaw "
    r"|Post-compaction context refresh\]|Startup context loaded|Generated media delivery retry\]"
    r"|Queued announce messages|Forwarded from |Chat messages since your|Thread (?:history|starter)))"
)


def typed_in(text: str) -> str | None:
    """Given a user's text, return what a person typed in it, or None."""
    if _QUEUED.match(text):
        _, *queued = _EACH.split(text)
        return "\n\n".join(filter(None, map(typed_in, queued))) or None
    text = _begun(_CONTEXT.sub("", text))
    if text.startswith(_SINCE):
        _, *current = text.split(_CURRENT)
        if len(current) != 1:  # one of them is somebody else's
            return None
        text = _begun(current[0])
    text = _AFTER.sub("", text).strip()
    return None if not text or _ITS_OWN.match(text) else text


def _begun(text: str) -> str:
    """Given a text, return it without what is put before a message."""
    at = 0
    while match := _BEFORE.match(text, at):
        at = match.end()
    return text[at:].lstrip()
