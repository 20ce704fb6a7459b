"""What strangers wrote is read in a time that grows with its length, not with the square of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from extractord.agent.claim import claims_save
from extractord.agent.heuristics.sentences import sentences
from extractord.core import memory
from extractord.core.facts import take_apart
from extractord.core.index import Listed, derive
from extractord.core.injection import escaped
from extractord.core.prose import pasted, prose
from extractord.core.records import Entry, Origin, Role
from extractord.core.redact import replace
from extractord.core.taking import taken
from extractord.core.transcripts import (
    aider,
    cline_records,
    cline_sdk,
    cursor_text,
    gemini_records,
    hermes_words,
    openclaw_words,
    opencode_words,
    pi,
    recorded,
)
from extractord.core.transcripts.shelltext import touched
from extractord.policy.secret import find_secrets

LENGTH = 200_000
SECONDS = 2.0
"""Ten times what the slowest takes; a square takes a minute and more."""
LONG = " " * LENGTH
BROKEN = Listed("a.md", "A", fault="unreadable")


def run_of(piece: str) -> str:
    return piece * (LENGTH // len(piece))


def spoken(text: str) -> str:
    return prose(Entry(id="e", agent="a", session="s", role=Role.USER, origin=Origin.HUMAN, text=text))


def unlabelled(text: str) -> object:
    """As a brief does it: what looks like a label replaced, between the quotations that are pastes."""
    return replace(text, [(*found.span(), "[…]") for found in re.finditer(r"\[e1", text)], pasted(text))


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda text: memory.Memory(body=text).heading, f"# a{LONG}x"),
        (lambda text: memory.Memory(body=text).heading, f"# a{run_of(' #')}x"),
        (lambda text: derive(text, [BROKEN]), f"- [B](a.md){LONG}x\n"),
        (lambda text: derive(text, [BROKEN]), f"- [B](a.md){run_of('<!-- unreadable:')}x\n"),
        (unlabelled, run_of("> x\n[e1 y\n")),
        (escaped, f"<{LONG}x"),
        (escaped, run_of("< ")),
        (claims_save, run_of("\n")),
        (lambda text: list(sentences(text)), run_of(".") + "a"),
        (spoken, f"<a{run_of('_')}"),
        (spoken, run_of("<a-b ")),
        (lambda text: list(taken("sections", text, "a")), f"# a{LONG}x\nb"),
        (lambda text: take_apart(text, "/memory/user/a.md"), run_of("`")),
        (lambda text: recorded.patch_paths(text, None), f"*** Add File: a{LONG}x"),
        (find_secrets, run_of(" ".join("AKIA" + "Q3ZZ7PWN5MXR4T" + two for two in ("UV", "VU", "WX")) + " ")),
        (touched, f"cat a {run_of('<')}"),
        (pi._WRAPPERS.match, f'<skill name="{run_of(">")}'),
        (cursor_text._CALL.match, f"[Tool call] a{LONG}x"),
        (aider._ITS_OWN.match, run_of("(Y)es/(N)o")),
        (
            gemini_records._STEERED.match,
            f"User hints: <user_input>{run_of('</user_input>Internal instruction: ')}\n",
        ),
        (hermes_words.typed_in, run_of("\n\n[System note: ")),
        (hermes_words._BUNDLE.match, run_of("[IMPORTANT: ")),
        (opencode_words.heard, run_of("[search-mode]\n")),
        (opencode_words.heard, run_of("<ultrawork-mode></ultrawork-mode>\n---\n")),
        (opencode_words.heard, "<command-instruction>" + run_of("<user-request>")),
        (opencode_words.heard, "<command-instruction>" + run_of("## User Request\n")),
        (opencode_words.heard, "x\n" + run_of("---\n ")),
        (openclaw_words.typed_in, run_of("[Telegram ]")),
        (openclaw_words.typed_in, run_of("<memory>")),
        (openclaw_words.typed_in, run_of("<memory></memory>\n")),
        (cline_records.typed_in, run_of("\n")),
        (cline_records.typed_in, run_of("\n\n ")),
        (cline_sdk._inputs, run_of("<user_input>")),
        (cline_sdk._inputs, run_of("<user_input")),
        (cline_sdk._MODE.search, run_of("<mode_notice")),
        (cline_sdk._WRAPPERS.search, f"<{run_of('editor')}"),
    ],
)
def test_a_hostile_text_is_read_in_linear_time(read: Callable[[str], object], text: str) -> None:
    begun = time.process_time()
    read(text)
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# A title", "A title"),
        ("  ### A title ##  ", "A title"),
        ("# A title \t ##\t \r", "A title"),
        ("# C# and F#", "C# and F"),
        ("# #", ""),
        ("#a\n## b", "b"),
        ("    # code\ntext", ""),
    ],
)
def test_a_heading_is_still_what_stands_between_its_signs(line: str, heading: str) -> None:
    assert memory.Memory(body=line).heading == heading
