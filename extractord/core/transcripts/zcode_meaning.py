"""ZCode: whose a user's message is, whose a session, and what a rewind left standing."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct, field

from extractord.core.records import Origin
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.telling import decoded

_TYPED = frozenset({None, "", "user_prompt"})
_PERSONS = frozenset({None, "", "real_user"})
_BY_PROGRAM = frozenset(
    {
        *("fork", "rewind", "selection_side_chat", "shared_context", "plugin_reference", "workflow_launch"),
        *("background_task", "task_notification", "todo_reminder", "agent_control_message"),
        *("goal-continuation", "goal_state_change", "target_continuation", "subagent", "subagent_message"),
    }
)
"""The `source` of a message that carries no `semantics`, as older versions wrote them."""
_NOTICES = (
    *("<task-notification>", "<subagent-notification>", "<system-reminder source="),
    "Conversation rewind applied.",
)
_PERSON_AT = frozenset({"interactive", "fork", "selection_side_chat", "workflow_parent"})


class Semantics(Struct):
    """What the program notes about a message."""

    origin: str | None = None
    kind: str | None = None


class _Metadata(Struct):
    forkOrigin: Any = None  # noqa: N815 - the record's own name


class Message(Struct):
    """A message without its parts."""

    role: str = ""
    summary: Any = None
    semantics: Semantics = field(default_factory=Semantics)
    source: str | None = None
    synthetic: Any = None
    visibility: str | None = None
    metadata: _Metadata = field(default_factory=_Metadata)


class _Revert(Struct):
    targetMessageID: str | None = None  # noqa: N815
    keptMessageIDs: list[str] | None = None  # noqa: N815
    branchCutAfterMessageID: str | None = None  # noqa: N815
    createdMessageID: str | None = None  # noqa: N815


_REVERT = decoder(_Revert)


def origin_of(message: Message, text: str) -> Origin:
    """Whose a user's message is; `RECALLED` for a summary, `SYNTHETIC` for what the program says in it."""
    means = message.semantics
    if means.kind == "compact_summary" or message.summary is True:
        return Origin.RECALLED
    by_program = (
        means.kind not in _TYPED
        or means.origin not in _PERSONS
        or bool(message.synthetic)
        or message.visibility == "model-only"
        or message.source in _BY_PROGRAM
        or text.lstrip().startswith(_NOTICES)
    )
    if by_program:
        return Origin.SYNTHETIC
    return Origin.COPIED if message.metadata.forkOrigin else Origin.HUMAN


def is_sub_agents(task: str | None, parent: str | None) -> bool:
    """A fork and a side chat have a parent too, and are a person's; older rows name no kind of task."""
    return bool(parent) and task not in _PERSON_AT


class Branch:
    """Which messages of a session stand; a rewind deletes none, it notes from where the talk goes on."""

    def __init__(self, revert: str | None, unknown: Counter[str]) -> None:
        """Given what the session's row says about its last rewind, if there was one."""
        found = decoded(revert.encode(), _REVERT, unknown) if revert else None
        self._target = found.targetMessageID if found else None
        kept = found.keptMessageIDs if found else None
        self._kept = None if kept is None else frozenset(kept)
        self._cut = found.branchCutAfterMessageID if found else None
        self._created = found.createdMessageID if found else None
        self._is_before = True
        self._is_after = False

    def stands(self, ident: str) -> bool:
        """Given the session's messages in order, one after another."""
        if not self._target:
            return True
        self._is_before = self._is_before and ident != self._target
        self._is_after = self._is_after or (not self._cut and ident == self._created)
        kept = self._is_before if self._kept is None else ident in self._kept
        stands = self._is_after or kept
        self._is_after = self._is_after or ident == self._cut
        return stands
