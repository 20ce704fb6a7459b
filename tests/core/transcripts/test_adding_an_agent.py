"""The adapter in docs/adding-an-agent.md is a whole one."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from feeding import fed, line, newest, odd_records, prompts, reader
from hypothesis import given, settings

from extractord.core.transcripts import SOURCES
from extractord.core.transcripts.source import Source, Surroundings

PAGE = Path(__file__).parents[3] / "docs" / "adding-an-agent.md"


def shown() -> Source:
    match = re.search(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert match is not None
    module = sys.modules.setdefault("parrot", ModuleType("parrot"))  # msgspec looks its annotations up there
    exec(compile(match[1], str(PAGE), "exec"), module.__dict__)  # noqa: S102 - our own page
    source = module.__dict__["SOURCE"]
    assert isinstance(source, Source)
    return source


PARROT = shown()


def test_the_adapter_that_is_shown_reads_what_it_says() -> None:
    to = reader(PARROT, "/h/.parrot/s1.jsonl")
    told = {"kind": "said", "id": "m2", "text": "We deploy.", "at": 1_796_040_000}
    asked = {"kind": "typed", "id": "m1", "text": "we deploy on tuesdays"}
    seen = fed(to, {**asked, "where": "/shop"}, told, {"kind": "sang"})
    assert prompts(seen) == ["we deploy on tuesdays"]
    assert [(each.id, each.agent, each.cwd, each.turn_end) for each in newest(seen).values()] == [
        ("s1/m1", "parrot", "/shop", False),
        ("s1/m2", "parrot", "/shop", True),
    ]
    assert (to.session, to.unknown) == ("s1", {"sang": 1})
    assert PARROT.roots(Surroundings({}, "/h", "linux")) == ("/h/.parrot",)
    assert PARROT.claims("/x/s1.jsonl", line(told))
    assert not any(source.claims("/x/s1.jsonl", line(told)) for source in SOURCES)


@settings(max_examples=60)
@given(odd_records(["kind", "id", "text", "at", "where"], ["typed", "said", "m1"]))
def test_and_it_never_raises(records: list[bytes]) -> None:
    newest(fed(reader(PARROT), *records, *records))


@pytest.mark.parametrize("source", SOURCES, ids=lambda each: each.agent)
def test_every_adapter_says_which_versions_were_read(source: Source) -> None:
    assert source.seen


AGENTS = """
    aider amp atif claude-code cline codex continue copilot-cli crush cursor droid gemini-cli goose hermes
    kilo kimi openai-chat openclaw opencode otel-genai pi qwen-code roo zcode"""


def test_every_agent_is_named_once_as_it_is_spelt() -> None:
    assert sorted(source.agent for source in SOURCES) == AGENTS.split()
