"""What an agent's session-start hook answers, and how much of it the agent takes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import msgspec

from extractord.core.injection import LIMIT_CHARS, LIMIT_LINES, Scope, framed

_TRIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """How an agent wants to be told: `answer` is given a block that is not empty."""

    answer: Callable[[str], str]
    limit: int = LIMIT_CHARS
    """Of a longer block the agent itself shows its model a part."""
    size: Callable[[str], int] = len
    """How the agent counts."""


def _additional_context(block: str, event: str = "SessionStart") -> str:
    told = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": block}}
    return msgspec.json.encode(told).decode() + "\n"


def _as_it_is(block: str) -> str:
    return block


def _bytes(block: str) -> int:
    return len(block.encode("utf-8", "replace"))


HOOKS: Mapping[str, Hook] = {
    # Claude Code puts more than 10,000 characters into a file and shows the first 2,000.
    "claude-code": Hook(answer=_additional_context, limit=9_800),
    # Codex cuts the middle out of more than 2,500 tokens, which are four bytes to it.
    "codex": Hook(answer=_additional_context, limit=9_800, size=_bytes),
    "gemini-cli": Hook(answer=_additional_context),
    # Qwen Code drops what a hook says at a session's start: the first prompt's is answered.
    "qwen-code": Hook(answer=partial(_additional_context, event="UserPromptSubmit")),
    # A plugin of theirs starts the command and hands on what it prints.
    "opencode": Hook(answer=_as_it_is),
    "pi": Hook(answer=_as_it_is),
}
"""By agent; what each takes in was found by giving it more."""

ANY = Hook(answer=_additional_context)
"""For an agent that is not named: the form that most have taken over."""


def within(hook: Hook, scopes: tuple[Scope, ...]) -> str:
    """Given what is to be told, return the block in the size that the agent takes in; cuts are marked."""
    chars = min(LIMIT_CHARS, hook.limit)
    for _ in range(_TRIES):
        block = framed(scopes, LIMIT_LINES, chars)
        size = hook.size(block)
        if size <= hook.limit:
            break
        chars = chars * hook.limit // size - 1
    return block
