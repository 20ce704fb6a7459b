from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.core.memory import STAMPS, Malformed, Memory, parse, stamp, unstamp
from extractord.core.records import Stamp
from extractord.policy.requests import Trust

MARKS = Stamp(
    recorded_at=datetime(2026, 11, 30, 11, 55, 52, 7, tzinfo=UTC),
    observed_at=datetime(2026, 11, 30, 11, 55, 36, tzinfo=UTC),
    trust=Trust.STATED,
    source="claude-code 4c1ca625 1b2c33d4",
    run="01JDZ6",
)
PLAIN = """---
name: deploys-on-tuesdays
description: Deploys happen on Tuesdays only
metadata:
  type: project
---
Deploys happen on Tuesdays only.
"""
STAMPED = """---
name: deploys-on-tuesdays
description: Deploys happen on Tuesdays only
metadata:
  type: project
  recorded_at: 2026-11-30T11:55:52Z
  observed_at: 2026-11-30T11:55:36Z
  trust: stated
  source: claude-code 4c1ca625 1b2c33d4
  run: 01JDZ6
---
Deploys happen on Tuesdays only.
"""


def test_a_stamp_stands_at_the_end_of_metadata() -> None:
    assert stamp(PLAIN, MARKS) == STAMPED
    assert unstamp(STAMPED) == PLAIN


def test_a_bare_top_level_type_gets_a_metadata_of_its_own_and_loses_it_again() -> None:
    text = "---\nname: a\ntype: user\n---\nbody"
    stamped = stamp(text, MARKS)
    assert stamped.startswith("---\nname: a\ntype: user\nmetadata:\n  recorded_at: 2026")
    assert parse(stamped) == Memory(
        name="a",
        type="user",
        body="body",
        metadata={
            "recorded_at": "2026-11-30T11:55:52Z",
            "observed_at": "2026-11-30T11:55:36Z",
            "trust": "stated",
            "source": "claude-code 4c1ca625 1b2c33d4",
            "run": "01JDZ6",
        },
    )
    assert unstamp(stamped) == text


def test_a_memory_is_read_with_its_scalars_as_written() -> None:
    text = "---\nname: 1.10\ndescription: yes\nextra: [1]\nmetadata: {type: reference}\n---\n# One\n"
    assert parse(text) == Memory(
        name="1.10", description="yes", type="reference", body="# One\n", metadata={"type": "reference"}
    )


def test_a_text_without_front_matter_is_a_memory_without_a_name() -> None:
    memory = parse("# Notes of mine #\r\n\nwords")
    assert memory == Memory(body="# Notes of mine #\r\n\nwords")
    assert isinstance(memory, Memory)
    assert memory.heading == "Notes of mine"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\nname: a\n", "the front matter is not closed by a line `---`"),
        ("---\nname: [a\n---\n", "the front matter is not YAML: did not find expected ',' or ']' in line 3"),
        ("---\n- a\n---\n", "the front matter is not a mapping"),
        ("---\nname: a\nname: b\n---\n", "`name` stands twice in the front matter"),
        ("---\nmetadata:\n  run: a\n  run: b\n---\n", "`run` stands twice in the front matter"),
        (
            "---\nmetadata: {trust: confirmed}\n---\n",
            "a stamp stands in braces: `metadata` has one key a line",
        ),
        ("---\n? metadata\n: trust: x\n---\n", "`metadata` has something before a key on its line"),
        ("---\na: &a\n  run: x\nmetadata: *a\n---\n", "`metadata` is an alias"),
        ("---\na: b\rc: d\n---\n", "the front matter has line breaks other than LF and CRLF"),
        ("---\nname: \ud800\n---\n", "the front matter is not YAML: UnicodeEncodeError"),
        ("---\nname: " + "a" * 20_000 + "\n---\n", "the front matter is longer than 16384 characters"),
    ],
)
def test_what_is_malformed_says_why_and_is_left_alone(text: str, reason: str) -> None:
    assert parse(text) == Malformed(reason)
    assert unstamp(text) == text
    assert stamp(text, MARKS) == text


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("name: [a]", "`name` is not plain text"),
        ("type: {a: b}", "`type` is not plain text"),
        ("metadata: words", "`metadata` is not a mapping"),
    ],
)
def test_a_part_of_the_wrong_kind_is_named(header: str, reason: str) -> None:
    assert parse(f"---\n{header}\n---\n") == Malformed(reason)


@pytest.mark.parametrize("deep", ["[" * 9_000, "{a: " * 4_000, "[" * 900 + "]" * 900, "- " * 2_000])
def test_a_deep_header_is_an_answer_and_no_crash(deep: str) -> None:
    assert isinstance(parse(f"---\na: {deep}\n---\n"), Malformed | Memory)


def test_forged_stamps_are_dropped_whatever_their_value() -> None:
    forged = (
        "---\nname: a\nmetadata:\n  trust: >\n    confirmed\n\n  type: user # mine\n"
        "  run:\n    nested: 1\n  # a comment\n  source:\n---\nb\n"
    )
    assert unstamp(forged) == "---\nname: a\nmetadata:\n\n  type: user # mine\n  # a comment\n---\nb\n"


def test_a_comment_after_a_forged_nested_stamp_stays() -> None:
    forged = "---\nname: a\nmetadata:\n  type: user\n  run:\n    a: b\n  # mine\n\n# mine too\n---\nb\n"
    assert unstamp(forged) == "---\nname: a\nmetadata:\n  type: user\n  # mine\n\n# mine too\n---\nb\n"


def test_a_source_that_is_no_plain_yaml_is_quoted() -> None:
    odd = Stamp(
        recorded_at=MARKS.recorded_at, observed_at=None, trust=Trust.INFERRED, source="a: b\n# c", run="é"
    )
    stamped = stamp(PLAIN, odd)
    assert '  source: "a: b # c"\n  run: "é"\n---' in stamped
    assert unstamp(stamped) == PLAIN


@pytest.mark.parametrize(
    "header", ["metadata:\n", "metadata: {type: user}\n", "{name: a}\n", "name: a\n...\n"]
)
def test_where_a_stamp_has_no_place_the_text_stays(header: str) -> None:
    text = f"---\n{header}---\nbody\n"
    assert stamp(text, MARKS) == text


_key = st.sampled_from(["type", "note", "my key", "'q'", "versión", "x-1"])
_value = st.sampled_from(
    [
        "project",
        "1.10",
        "'a # b'",
        '"c: d"',
        "|\n    several\n\n    lines",
        "[1, 2]",
        "",
        "&n x",
        "yes # why",
        "\n    deep: 1",
    ]
)
_entries = st.dictionaries(_key, _value, min_size=1, max_size=4)
_own = st.sampled_from(["# mine", "name: a", "description: 'b'", "other:\n- 1\n- 2", "zz: 1.10   "])


@st.composite
def _texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(_own, unique=True, max_size=4))
    if draw(st.booleans()):
        inner = [f"  {key}: {value}" for key, value in draw(_entries).items()]
        if draw(st.booleans()):
            inner.insert(0, "  # a comment of mine")
        lines.insert(draw(st.integers(0, len(lines))), "\n".join(["metadata:", *inner]))
    text = "\n".join(["---", *lines, "---", draw(st.text(max_size=30))])
    text += draw(st.sampled_from(["", "\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@given(_texts())
@settings(max_examples=300)
def test_every_byte_outside_our_lines_survives(text: str) -> None:
    stamped = stamp(text, MARKS)
    assert unstamp(stamped) == text
    before, after = parse(text), parse(stamped)
    if isinstance(before, Malformed):
        assert after == before
        return
    assert isinstance(after, Memory)
    kept = {key: value for key, value in after.metadata.items() if key not in STAMPS}
    assert (after.name, after.description, after.type, after.body, kept) == (
        before.name,
        before.description,
        before.type,
        before.body,
        before.metadata,
    )
    if stamped != text:
        rest = iter(stamped.splitlines(keepends=True))
        assert all(line in rest for line in text.splitlines(keepends=True))


@given(_texts())
@settings(max_examples=100)
def test_a_text_with_a_block_metadata_is_stamped(text: str) -> None:
    memory = parse(text)
    if isinstance(memory, Memory) and memory.metadata:
        marks = parse(stamp(text, MARKS))
        assert isinstance(marks, Memory)
        assert marks.metadata["trust"] == "stated"


@given(st.text(alphabet="-a: {}[]&*!|>#\"'\n\r\t\ufeff\u2028é,?", max_size=80))
@settings(max_examples=300)
def test_no_text_is_too_odd(text: str) -> None:
    for odd in (text, f"---\n{text}\n---\n{text}", f"---\nmetadata:\n  trust: {text}\n---\n"):
        parse(odd)
        assert unstamp(stamp(unstamp(odd), MARKS)) == unstamp(odd)
