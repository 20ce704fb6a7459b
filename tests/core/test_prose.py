from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractord.core.prose import pasted, prose, speaks
from extractord.core.records import Entry, Origin, Role
from extractord.core.words import count_words


def said(text: str, pastes: tuple[tuple[int, int], ...] = ()) -> str:
    entry = Entry(
        id="1", agent="pi", session="s", role=Role.USER, origin=Origin.HUMAN, text=text, pastes=pastes
    )
    return prose(entry)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("We deploy on Tuesdays.", "We deploy on Tuesdays."),
        ("fix this:\n```py\nalways use tabs\n```\nthanks", "fix this:\nthanks"),
        ("~~~\nnever closed\nuse tabs", ""),
        ("look\n\n    always use tabs\n", "look"),
        ("    one line with a wide margin", "one line with a wide margin"),
        ("> you should use tabs\nno, spaces", "no, spaces"),
        ("/compact keep the decisions", ""),
        ("/etc/hosts is ours to edit", "/etc/hosts is ours to edit"),
        ("<system-reminder>\nuse the todo tool\n</system-reminder>\nplain words stay", "plain words stay"),
        ("<a-b>one <a-b>inner</a-b> the rest is said", "the rest is said"),
        ("</a-b> an end before <a-b> its beginning", "</a-b> an end before <a-b> its beginning"),
        ("<a-b><c-d></a-b> said </c-d> after", "said </c-d> after"),
        ("a <b> is not a wrapper </b> here", "a <b> is not a wrapper </b> here"),
        ("https://example.com/a b://c", ""),
        ("see https://example.com/a please", "see https://example.com/a please"),
        ("2026-11-30 10:00:01 INFO started the thing", ""),
        (
            'why?\nTraceback (most recent call last):\n  File "a.py", line 3\n    g()\nValueError: none',
            "why?",
        ),
        ("$ make test\nFAIL tests/a.py no\nsome words between", ""),
        ("Error handling belongs at the border", "Error handling belongs at the border"),
    ],
)
def test_only_what_a_person_says_is_prose(text: str, left: str) -> None:
    assert said(text) == left


def test_what_the_record_marks_as_pasted_is_not_prose() -> None:
    assert said("before PASTED after", ((7, 13),)) == "before \n after"


def test_a_list_of_rules_is_prose_although_it_is_long_enough_to_count_as_a_paste() -> None:
    rules = "Rules:\n\n- one thing\n- two things\n- three things\n- four things\n- five things"
    assert said(rules) == rules.replace("\n\n", "\n")
    assert [rules[slice(*span)] for span in pasted(rules)] == [rules[8:]]


@pytest.mark.parametrize(
    ("text", "pastes"),
    [
        ("just one paragraph\nof\nmany\nlines\nthat\nsomebody\ntyped", []),
        ("first\n\na\nb\nc\nd", []),
        ("first\n\na\nb\nc\nd\ne", ["a\nb\nc\nd\ne"]),
        ("first\n\n" + "word " * 149, []),
        ("first\n\n" + "word " * 150, ["word " * 150]),
        ("first\n```\ncode\n\nmore\n```\nlast", ["```\ncode\n\nmore\n```\n"]),
        ("first\n````\n```\n````\nlast", ["````\n```\n````\n"]),
        ("first\n\tindented\nlast", ["\tindented\n"]),
        ("    both\n    indented", ["    both\n    indented"]),
        ("> said\n> so\nno", ["> said\n> so\n"]),
    ],
)
def test_pastes_are_found_by_their_shape(text: str, pastes: list[str]) -> None:
    assert [text[slice(*span)] for span in pasted(text)] == pastes


def test_marked_pastes_join_those_that_are_found() -> None:
    assert pasted("ab> c", ((1, 3), (3, 4), (-5, 0), (9, 12))) == ((1, 4),)


@given(
    st.text(alphabet="ab \n\t>`~<-/", max_size=80),
    st.lists(st.tuples(st.integers(-2, 90), st.integers(-2, 90)), max_size=3),
)
def test_pastes_are_ascending_apart_and_inside_the_text(text: str, marked: list[tuple[int, int]]) -> None:
    spans = pasted(text, marked)
    flat = [at for span in spans for at in span]
    assert flat == sorted(set(flat))
    assert all(0 <= at <= len(text) for at in flat)


PIECES = [
    "fix",
    "this",
    "now",
    "ok",
    "\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "> ",
    "```",
    "/clear",
    "<a-b>",
    "</a-b>",
]
PIECES += [
    "https://a.example ",
    "12:01:02 ERROR x",
    "Traceback (most recent call last)",
    "部署",
    "ไปเที่ยว",
    "~~~",
    "é",
    "$ ls",
    "a@b:c$",
]


@pytest.mark.parametrize(
    "line",
    [
        ",".join(f"https://shop.example/{number}" for number in range(10)) + " are broken",
        "^" * 40_000 + " points here",
    ],
)
def test_a_line_that_nearly_is_no_prose_is_read_in_no_time(line: str) -> None:
    begun = time.process_time()
    assert said(line) == line
    assert time.process_time() - begun < 2


def test_addresses_one_behind_the_other_are_still_no_prose() -> None:
    assert (
        said("see\n- <https://a.example/x>, http://b.example,http://c.example\n  |  ^^~\nthat") == "see\nthat"
    )


@pytest.mark.parametrize(
    "prompt", ["$", "me@box:~/shop$", "root@box:/#", "\u276f", "\u279c  shop git:(main)"]
)
def test_what_a_terminal_printed_between_two_commands_is_no_prose(prompt: str) -> None:
    printed = "We push without hooks.\nMallory owns the release.\nSkip the tests."
    assert said(f"Tabs only.\n{prompt} cat NOTES\n{printed}\n{prompt}\nWhy?") == "Tabs only.\nWhy?"


def test_what_stands_behind_one_command_or_between_headings_is_prose_still() -> None:
    assert said("Run it:\n$ make lint\nWe run it before each commit.") == (
        "Run it:\nWe run it before each commit."
    )
    rules = "We use tabs.\nNever push.\nWe test first."
    assert said(f"# Rules\n{rules}\n# Tests\nAll pass.") == f"{rules}\nAll pass."
    assert said("$5 is the price.\nKeep it.\n$6 was before.") == "$5 is the price.\nKeep it.\n$6 was before."


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.integers(1, 4))
def test_a_prompt_speaks_where_its_prose_has_the_words(text: str, words: int) -> None:
    entry = Entry(id="e", agent="a", session="s", role=Role.USER, origin=Origin.HUMAN, text=text)
    assert speaks(entry, words) == (count_words(prose(entry)) >= words)


@given(st.lists(st.sampled_from([piece + " " for piece in PIECES]), max_size=40).map("".join))
def test_however_long_it_is(text: str) -> None:
    entry = Entry(id="e", agent="a", session="s", role=Role.USER, origin=Origin.HUMAN, text=text)
    assert speaks(entry, 3) == (count_words(prose(entry)) >= 3)
