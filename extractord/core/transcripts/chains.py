"""Which conversation a call goes on with, where it names none: the one whose every word it repeats."""

from __future__ import annotations

from typing import Any

from extractord.core.transcripts.blocks import shown_in
from extractord.core.transcripts.otel_values import objects, text
from extractord.core.transcripts.recorded import text_key

IDS = (
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.conversation_id",
    "langfuse.session.id",
    "ai.telemetry.metadata.sessionId",
)
"""Where exporters name the conversation, the convention's first."""
_INSTRUCTIONS = frozenset({"system", "developer"})


def named_in(found: dict[str, Any]) -> str | None:
    """Given a span's attributes, return the conversation that they name, or None."""
    return next(filter(None, (text(found.get(key)) for key in IDS)), None)


class Chains:
    """Knows every conversation by all that was said in it so far."""

    def __init__(self) -> None:
        self._sessions: dict[str, str] = {}

    def of(self, messages: list[dict[str, Any]], else_: str, *, unanswered: bool = False) -> str:
        """Given a call's history and its answer, return the session that it goes on with, else the given.

        What has no answer is gone on with only where `unanswered` says so.
        """
        chain, session, answered = "", else_, False
        for message in messages:
            role = text(message.get("role")) or ""
            if role in _INSTRUCTIONS:
                continue
            chain = text_key(f"{chain}\n{role}\n{_words(message)}", 0)
            answered = answered or role == "assistant"
            session = self._sessions.get(chain, session)
        if answered or (unanswered and chain):
            self._sessions.setdefault(chain, session)
        return session


def _words(message: dict[str, Any]) -> str:
    """What a message says, in the same words whether it was given or answered."""
    said: list[str] = []
    for part in objects(message.get("parts")):
        match part.get("type"):
            case "text":
                said.append(text(part.get("content")) or "")
            case "tool_call":
                said.append(text(part.get("id")) or "")
            case "tool_call_response":
                said.append(shown_in(part.get("response", part.get("result"))))
    return "\n".join(said)
