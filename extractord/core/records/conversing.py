"""What passes between a run and its model: messages, calls, replies, and how it ended."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from msgspec import Struct

from extractord.core.records.changing import Change, Refusal
from extractord.core.records.reading import Entry


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
