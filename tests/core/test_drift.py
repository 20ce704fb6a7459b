from __future__ import annotations

import pytest

from extractord.core.drift import ENOUGH, hint, marks
from extractord.core.records import Entry, Origin, Role


def entry(role: Role, origin: Origin) -> Entry:
    return Entry(id="e", agent="a", session="s", role=role, origin=origin)


@pytest.mark.parametrize(
    "record",
    [
        b'{"type":"user","message":{"role":"user"}}',
        b'{"role": "user"}',
        b'{"type":"user.message"}',
        b'{"type":"turn.prompt"}',
        b'{"data":"{\\"role\\":\\"user\\"}"}',
        b'{"type":"USER_INPUT"}',
        b"#### do it  ",
    ],
)
def test_a_record_that_looks_like_a_prompt_counts_once(record: bytes) -> None:
    assert marks(record) == 1


@pytest.mark.parametrize("record", [b'{"role":"assistant"}', b'{"text":"the user said"}', b"", b"\xff"])
def test_others_do_not_count(record: bytes) -> None:
    assert marks(record) == 0


def test_a_document_counts_for_each_of_its_prompts() -> None:
    assert marks(b'[{"role":"user"},{"role":"assistant"},{"role": "user"}]', is_document=True) == 2


@pytest.mark.parametrize(
    ("marked", "entries", "hinted"),
    [
        (ENOUGH, [], True),
        (ENOUGH - 1, [], False),
        (ENOUGH + 3, [entry(Role.CONTEXT, Origin.SYNTHETIC)], True),
        (ENOUGH + 3, [entry(Role.USER, Origin.HUMAN)], False),
        (ENOUGH + 3, [entry(Role.USER, Origin.SUBAGENT)], False),
        (ENOUGH + 3, [entry(Role.CONTEXT, Origin.RECALLED)], False),
        (ENOUGH, [entry(Role.TOOL, Origin.SYNTHETIC)], False),
        (ENOUGH + 1, [entry(Role.TOOL, Origin.SYNTHETIC)], True),
    ],
)
def test_many_that_look_like_prompts_and_none_understood_are_told(
    marked: int, entries: list[Entry], hinted: bool
) -> None:
    said = hint("kimi", {"1.4"}, marked, entries)
    assert said == (
        f"format may have changed: {marked} records look like prompts, none is one (kimi, 1.4)"
        if hinted
        else ""
    )


def test_a_version_that_nobody_named_is_said() -> None:
    assert hint("kimi", (), ENOUGH, ()).endswith("(kimi, version not named)")
