"""What is taken of a child's word: it may have been turned, and nothing of it goes on unlooked at."""

from __future__ import annotations

import re

from msgspec.structs import replace

from extractord.core.records import Conversation, Ending, Refusal
from extractord.core.redact import redact
from extractord.core.wire import Failed, WireError

CHANGES = 50
"""An honest child hands back no more: its tools refuse the next (`run-files`)."""
TEXT_CHARACTERS = 64 * 1024
"""Nor a longer text: the law refuses it (`size`)."""
NEW_CHARACTERS = 1024 * 1024
"""Nor so much in new memories (`run-bytes`)."""
PATH_CHARACTERS = 1100
"""Nor a longer path below its root (`length`)."""
EVIDENCE_ITEMS = 1000
EVIDENCE_CHARACTERS = 1024 * 1024
"""Of all changes together; checking a quote costs time."""
REFUSED_PATH_CHARACTERS = 200

_RULE = re.compile(r"[a-z0-9-]{1,40}")
_WORD = re.compile(r"[A-Za-z]{1,40}")
_PATH = re.compile(r"/[^\s]*(?: [^\s]+){0,3}")
"""Absolute, of few words: what is longer is no path but somebody's prose."""
_VERDICTS = frozenset({"hold", "deny"})
_ENDINGS = frozenset({Ending.FINISHED, Ending.SAID, Ending.TURNS, Ending.NO_CALL})


def checked(conversation: Conversation, turns: int) -> Conversation:
    """Given what a child handed back and the turns that it had, return what can go to the one writer.

    The store judges each change; here is only what an honest child cannot send. Raise WireError,
    with nothing of its words, where it is more than the law allows, twice one path, or no ending.
    """
    if conversation.ending not in _ENDINGS:
        raise WireError(f"it ended as {conversation.ending}, which is not its to say")
    changes = conversation.changes
    if len(changes) > CHANGES:
        raise WireError(f"it handed back {len(changes)} changes, more than {CHANGES}")
    if len({(change.root, change.path) for change in changes}) < len(changes):
        raise WireError("it handed back two changes of one memory")
    if any(len(change.path) > PATH_CHARACTERS for change in changes):
        raise WireError("it handed back a path longer than the law allows")
    if any(len(change.text or "") > TEXT_CHARACTERS for change in changes):
        raise WireError("it handed back a text longer than the law allows")
    if sum(len(change.text or "") for change in changes if change.base is None) > NEW_CHARACTERS:
        raise WireError(f"it handed back new memories of more than {NEW_CHARACTERS} characters")
    cited = [item for change in changes for item in change.evidence]
    size = sum(len(item.quote) + len(item.entry) for item in cited)
    if len(cited) > EVIDENCE_ITEMS or size > EVIDENCE_CHARACTERS:
        raise WireError(f"it handed back {len(cited)} quotes of {size} characters, more than is looked at")
    return replace(conversation, turns=max(0, min(conversation.turns, turns)), reason="", refusals=())


def tidy(refusal: Refusal) -> Refusal:
    """Given a refusal as a child told it, return what of it may stand in the audit: names and a path."""
    path = refusal.path[:REFUSED_PATH_CHARACTERS]
    return Refusal(
        tool=refusal.tool if _WORD.fullmatch(refusal.tool) else "unknown",
        path=redact(path) if _PATH.fullmatch(path) else "",
        verdict=refusal.verdict if refusal.verdict in _VERDICTS else "deny",
        rule=refusal.rule if _RULE.fullmatch(refusal.rule) else "unnamed",
        reason="",
    )


def fault(failed: Failed) -> str:
    """Given a child's error, return where it was: names of ours, and no more words than one."""
    if not _WORD.fullmatch(failed.kind) or not re.fullmatch(r"\w{1,40}", failed.module):
        return "it failed, and would not say how"
    return f"{failed.kind} in {failed.module}, line {failed.line}"
