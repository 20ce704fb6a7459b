"""What a person copied is not kept as theirs, and what they say beside it is."""

from __future__ import annotations

import json

import pytest

from extractord.agent.heuristic import Heuristic
from extractord.core.records import Message

OWN = "Our servers run Node 22."
THEIRS = "We always use tabs. We never squash."


async def kept(*said: str) -> list[str]:
    """The words that each memory rests on."""
    window = "\n\n".join(f"[e{n} user 2026-11-30 10:45]\n{text}" for n, text in enumerate(said, 1))
    content = f"This was said.\n\n````\n{window}\n````\n\nSave it."
    reply = await Heuristic().complete((Message(role="user", content=content),), ())
    return [json.loads(call.arguments)["evidence"][0]["quote"] for call in reply.calls[:-1]]


SOURCES = [
    "^ that's from the vendor's wiki",
    "(copied from their README)",
    "that's what their handbook says",
    "not mine, thats what the vendor wrote",
    "those are the other team's rules",
    "das steht so im Wiki vom Lieferanten",
    "c'est ce que dit leur wiki",
    "eso es lo que dice su wiki",
]


@pytest.mark.parametrize("source", SOURCES)
async def test_what_is_said_to_be_somebody_elses_is_taken_back(source: str) -> None:
    assert await kept(f"{THEIRS}\n\n{source}") == []
    assert await kept(THEIRS, source) == []
    assert await kept(OWN, "fine", f"{THEIRS}\n\n{source}") == [OWN]


@pytest.mark.parametrize(
    "after", ["that's what we do here", "that's our rule", "this is from me", "please fix the file"]
)
async def test_what_is_ones_own_is_kept_still(after: str) -> None:
    assert await kept(f"{OWN}\n\n{after}") == [OWN]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Carl: we always use tabs\nwhat does he mean?", []),
        ("Backend: we always use Go modules.", ["Backend: we always use Go modules."]),
        ("Remember: we use Go for the backend.", ["Remember: we use Go for the backend."]),
        (f'Customer wrote: "We always use tabs. Never squash."\n\n{OWN}', [OWN]),
        (f"From the issue:\n\n> We always use tabs.\n\n{OWN}", [OWN]),
        (f"Here is their mail:\n\nWe always use tabs.\n\n{OWN}", []),
        ("Steps to reproduce:\n1. Always use tabs\nExpected: we never squash", []),
        ('Put "we use tabs" into the banner.', []),
    ],
)
async def test_who_speaks_and_what_is_handed_over_are_told_apart(text: str, found: list[str]) -> None:
    assert await kept(text) == found


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("we indent yaml with two spaces, please fix the file", True),
        ("the parser is slow, please fix the file", False),
        ("If the client agrees we will switch to Stripe.", False),
        ("If you touch the schema, always write a migration.", True),
        ("yes, use axios", False),
    ],
)
async def test_a_fact_before_a_request_is_one_and_a_plan_on_a_condition_is_none(
    text: str, *, fact: bool
) -> None:
    assert bool(await kept(text)) is fact
