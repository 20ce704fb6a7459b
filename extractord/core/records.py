"""What passes from room to room: entries, exchanges, windows, changes, messages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from enum import StrEnum

from msgspec import Struct

from extractord.policy.requests import RootKind, Trust


class Role(StrEnum):
    """Who an entry is from, as the watched agent's model saw it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    CONTEXT = "context"


class Origin(StrEnum):
    """Where an entry's words come from, as far as the record tells."""

    HUMAN = "human"
    """Typed by a person in a session that a person drives."""
    HEADLESS = "headless"
    """A prompt that a program gave (`claude -p`, `codex exec`)."""
    SYNTHETIC = "synthetic"
    """Written by the agent, its model, its tools or its harness."""
    SUBAGENT = "subagent"
    """Of a session that the agent's own model prompts."""
    RECALLED = "recalled"
    """A compaction summary, or memory that was injected: never evidence."""
    COPIED = "copied"
    """Repeated from another session by a fork, resume or branch: never evidence twice."""


class ToolCall(Struct, frozen=True, kw_only=True, gc=False):
    """A tool call of the watched agent."""

    id: str
    name: str
    paths: tuple[str, ...] = ()
    """The files it names: absolute where the record's cwd allows, `~/…` kept, `..` folded."""
    writes: bool = False
    """It would change those files."""
    ok: bool | None = None
    """True where a result says that it was done, False where refused or failed, None unknown."""


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One thing said or done in a session of the watched agent.

    The same `id` again with a higher `revision` replaces the entry.
    """

    id: str
    agent: str
    session: str
    role: Role
    origin: Origin
    text: str = ""
    parent: str | None = None
    revision: int = 0
    calls: tuple[ToolCall, ...] = ()
    time: datetime | None = None
    """Aware, UTC; absent where the record has none."""
    cwd: str | None = None
    branch: str | None = None
    """The git branch that the record names."""
    turn_end: bool = False
    """The watched agent's turn, and so the exchange, ends with this entry."""
    active: bool = True
    """False on a branch that a rewind abandoned."""
    pastes: tuple[tuple[int, int], ...] = ()
    """Stretches of `text`, as offsets, that the record itself marks as pasted."""
    ordinal: int | None = None
    """The record's own running number where the agent writes one (Codex)."""


class Voided(Struct, frozen=True, kw_only=True, gc=False):
    """Entries that a rewind put on an abandoned branch, in whichever file they stand.

    Either `ids`, or every entry of the session in *other* files whose ordinal is at least
    `from_ordinal`. Those of `again` were, and are no more: each is told anew after this.
    """

    session: str
    ids: tuple[str, ...] = ()
    from_ordinal: int | None = None
    again: tuple[str, ...] = ()


Seen = Entry | Voided
"""What a reader makes of a record."""


class Deferred(Struct, frozen=True, gc=False):
    """An assistant's or a tool's record, kept as it came: its entries are made when they are needed."""

    session: str
    id: str
    """The record's, unique in its transcript; not always that of the entry."""
    record: bytes
    calls: bool = False
    """It may hold tool calls."""
    ends: bool = False
    """The watched agent's turn, and so the exchange, ends with it."""
    cwd: str | None = None
    """The working directory, where the record itself does not tell."""
    about: object = None
    """What else its adapter has to know to make the entries."""


class Thawed(Struct, frozen=True, gc=False):
    """The entries of a record that went out deferred, wanted before its exchange is."""

    session: str
    id: str
    entries: tuple[Entry, ...]


Kept = Entry | Deferred
"""What an exchange is made of."""
Thaw = Callable[[tuple[Kept, ...]], tuple[Entry, ...]]
"""Given all that is kept of an exchange, in order, return its entries, as if none had been deferred."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A person's prompt and all that follows until the watched agent's turn ends."""

    agent: str
    session: str
    key: str
    """The id of the entry that opens it."""
    entries: tuple[Entry, ...]
    """All of them, or where something is deferred those that are made: its prompt always is."""
    ended: bool
    cwd: str | None = None
    branch: str | None = None
    kept: tuple[Kept, ...] = ()
    """Where something is deferred: everything, in order."""
    thaw: Thaw | None = None
    """Where something is deferred: makes entries of `kept`."""


class Project(Struct, frozen=True, kw_only=True):
    """Where a session's project facts belong."""

    slug: str
    """`<basename>-<hash>`, the folder under `projects/`."""
    identity: str
    """What the hash is made of: a configured name or a resolved path."""
    directory: str
    is_project: bool = True
    """False for exactly $HOME, / and the temporary folder: no project facts there."""


class Window(Struct, frozen=True, kw_only=True):
    """A session's exchanges that are neither closed nor claimed, active branch only."""

    agent: str
    session: str
    project: Project
    exchanges: tuple[Exchange, ...]


class Snapshot(Struct, frozen=True, kw_only=True):
    """A window frozen when an exchange ended, waiting for its run."""

    window: Window
    offered_at: datetime
    brief: Brief | None = None
    """Kept from a run that was parked; None where there is still a transcript to brief from."""


class ParkedRun(Struct, frozen=True, kw_only=True):
    """What is kept of a parked run for `runs retry`: transcripts are purged."""

    brief: Brief
    project: Project
    keys: tuple[str, ...]
    """Of its exchanges."""


class Evidence(Struct, frozen=True, kw_only=True):
    """An entry that a fact rests on, by its label in the brief, and its words."""

    entry: str
    quote: str


class Change(Struct, frozen=True, kw_only=True):
    """What a run would change about one memory.

    `text` is the whole text afterwards, without our stamps, or None for its removal.
    `base` is the SHA-256 (hex) of the bytes that were there when the run first looked, None
    where there was nothing.
    """

    root: RootKind
    path: str
    """Below the root, with `/`."""
    text: str | None
    base: str | None = None
    evidence: tuple[Evidence, ...] = ()


class Known(Struct, frozen=True, kw_only=True):
    """What the ledger knows of a memory that is there when a run begins."""

    root: RootKind
    path: str
    """Below the root, with `/`."""
    trust: Trust
    foreign: bool = False
    pinned: bool = False


class Refusal(Struct, frozen=True, kw_only=True):
    """A request that was not granted, as the audit and the model get it."""

    tool: str
    path: str
    verdict: str
    """`hold` or `deny`."""
    rule: str
    reason: str


class Call(Struct, frozen=True, kw_only=True):
    """A tool call of the sub-agent's model; `arguments` is the JSON text as it came."""

    id: str
    name: str
    arguments: str


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message of the sub-agent's conversation, in the shape of OpenAI's chat API."""

    role: str
    """system, user, assistant or tool."""
    content: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    """On a tool's answer: the call that it answers."""


class Tool(Struct, frozen=True, kw_only=True):
    """A tool that the sub-agent is offered; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, object]


class Usage(Struct, frozen=True, kw_only=True):
    """What one request cost; tokens as the provider counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    dollars: float = 0.0


class Reply(Struct, frozen=True, kw_only=True):
    """One reply of the sub-agent's model."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    truncated: bool = False
    """The provider cut it at its length limit."""


class Shown(Struct, frozen=True, kw_only=True):
    """An entry as the brief showed it: what a quote is checked against."""

    label: str
    """`e12`."""
    entry: Entry
    text: str
    """After cutting and redaction, marks for both included; `entry.text` is the same, its pastes too."""
    said_on: date | None = None
    """The person's calendar day, from which relative dates are counted; the UTC day where None."""


class Brief(Struct, frozen=True, kw_only=True):
    """The first messages of a run, and what its evidence can cite."""

    messages: tuple[Message, ...]
    shown: tuple[Shown, ...]
    session: str
    agent: str
    tokens: int
    """A safe estimate for all of it."""


class Ending(StrEnum):
    """How a conversation with the sub-agent's model ended."""

    FINISHED = "finished"
    """It called Finish."""
    SAID = "said"
    """It answered in plain text, without a call."""
    TURNS = "turns"
    """The last turn was used."""
    NO_CALL = "no_call"
    """It claimed to have saved without calling a tool, twice."""
    FAILED = "failed"
    """The child, the pipe, the clock or the provider ended it: nothing may be committed."""


class Conversation(Struct, frozen=True, kw_only=True):
    """What the child hands back."""

    ending: Ending
    changes: tuple[Change, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    """The first 200."""
    denied: int = 0
    """All that were refused, counted."""
    turns: int = 0
    reason: str = ""


class Outcome(StrEnum):
    """How a run ended (DESIGN §7)."""

    SAVED = "saved"
    NOTHING_TO_SAVE = "nothing_to_save"
    HELD = "held"
    FAILED = "failed"
    CONFLICT = "conflict"
    ABORTED = "aborted"
    DEFERRED = "deferred"
    PARKED = "parked"
    FORWARDED = "forwarded"
    """The broker has the window: an extractor elsewhere runs it."""


class Stamp(Struct, frozen=True, kw_only=True):
    """What the store writes under `metadata`, besides the type that the model gave."""

    recorded_at: datetime
    observed_at: datetime | None
    trust: Trust
    source: str
    """`agent session entry`."""
    run: str
