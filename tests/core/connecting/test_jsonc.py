from __future__ import annotations

import json

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from extractord.core.connecting.jsonc import added, removed, values
from extractord.core.connecting.jsontext import parsed
from extractord.errors import InstallError

WHERE = ("hooks", "SessionStart", -1)
OURS = {"hooks": [{"type": "command", "command": "/bin/extractord context"}]}


def is_ours(value: object) -> bool:
    return value == OURS


_BLANK = st.text(" \t\n", max_size=4) | st.sampled_from(["\n  ", "\r\n\t"])
_GAP = st.one_of(
    _BLANK,
    st.builds(lambda before, words: f"{before}// {words}\n", _BLANK, st.text("abc {}[],:\"'", max_size=8)),
    st.builds(lambda before, words: f"{before}/*{words}*/ ", _BLANK, st.text("abc {}[],:\"'/", max_size=8)),
)
_KEYS = st.sampled_from(["a", "b", "theme", 'q"', "ключ"])
_LEAF = st.sampled_from(['"x"', '"// no comment"', '"/*"', "1", "-2.5e3", "true", "null", '"\\"{"'])


@st.composite
def containers(draw: st.DrawFn, items: list[str], opens: str) -> str:
    """A container of these items, however a person writes it."""
    text = opens[0]
    for nth, item in enumerate(items):
        text += draw(_GAP) + item + draw(_GAP)
        text += "," if nth < len(items) - 1 or draw(st.booleans()) else ""
    return text + draw(_GAP) + opens[1]


@st.composite
def documents(draw: st.DrawFn) -> str:
    def value(depth: int) -> str:
        if depth == 0 or draw(st.booleans()):
            return draw(_LEAF)
        if draw(st.booleans()):
            return draw(containers([value(depth - 1) for _ in range(draw(st.integers(0, 2)))], "[]"))
        return member(draw(st.lists(_KEYS, unique=True, max_size=2)), depth - 1)

    def member(keys: list[str], depth: int) -> str:
        pairs = [f"{json.dumps(key)}{draw(_GAP)}:{draw(_GAP)}{value(depth)}" for key in keys]
        return draw(containers(pairs, "{}"))

    keys = draw(st.lists(_KEYS, unique=True, max_size=3))
    pairs = [f"{json.dumps(key)}:{draw(_GAP)}{value(2)}" for key in keys]
    if draw(st.booleans()):
        starts = [value(1) for _ in range(draw(st.integers(0, 2)))]
        inner = [f'"SessionStart":{draw(containers(starts, "[]"))}'] if draw(st.booleans()) else []
        inner += [f'"Stop": {value(1)}'] if draw(st.booleans()) else []
        pairs.insert(draw(st.integers(0, len(pairs))), f'"hooks":{draw(_GAP)}{draw(containers(inner, "{}"))}')
    return draw(_GAP) + draw(containers(pairs, "{}")) + draw(_GAP)


@example("/**/ {/**/ }")
@given(documents())
def test_what_is_put_in_is_there_and_taken_out_leaves_every_byte_as_it_was(text: str) -> None:
    more, trace = added(text, WHERE, OURS)
    assert OURS in values(more, WHERE)
    assert removed(more, WHERE, is_ours, trace) == text


@given(documents())
def test_a_text_without_it_comes_back_as_it_is(text: str) -> None:
    assert removed(text, WHERE, is_ours, ()) == text


@given(documents(), _LEAF)
def test_what_a_person_adds_meanwhile_stays_to_the_byte(text: str, leaf: str) -> None:
    root = parsed(text)
    assume(root.items)

    def edited(now: str) -> str:
        return f'{now[: root.start + 1]}\n "more": /* new */ {leaf},{now[root.start + 1 :]}'

    ours, trace = added(text, WHERE, OURS)
    assert removed(edited(ours), WHERE, is_ours, trace) == edited(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n  "k": {\n    "x": 1\n  }\n}\n'),
        ('{\n\t"a": 1,\n}', '{\n\t"a": 1,\n\t"k": {\n\t\t"x": 1\n\t},\n}'),
        ("{}", '{\n  "k": {\n    "x": 1\n  }\n}'),
        ('{"a":1}', '{"a":1,"k":{"x":1}}'),
        ('{"a": 1}', '{"a": 1, "k": {"x": 1}}'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "k": {\r\n        "x": 1\r\n    }\r\n}'),
        ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "k": {\n    "x": 1\n  }\n}'),
        (None, '{\n  "k": {\n    "x": 1\n  }\n}\n'),
        ("", '{\n  "k": {\n    "x": 1\n  }\n}\n'),
        ('\ufeff{"a":1}', '\ufeff{"a":1,"k":{"x":1}}'),
    ],
)
def test_it_is_written_as_the_rest_of_the_file_is(before: str | None, after: str) -> None:
    more, trace = added(before, ("k",), {"x": 1})
    assert more == after
    assert removed(more, ("k",), lambda _: True, trace) == (before or None)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{"a": 1', "line 1, column 8"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": NaN}', "line 1, column 1"),
        ('{"a": 1,,}', "line 1, column 9"),
        ('{"a": /* open', "line 1, column 7"),
        ("{,}", "line 1, column 2"),
        ("{} {}", "line 1, column 4"),
    ],
)
def test_a_malformed_file_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InstallError, match=rf"^malformed at {place}"):
        added(text, WHERE, OURS)
    with pytest.raises(InstallError, match=rf"^malformed at {place}"):
        removed(text, WHERE, is_ours, ())


@pytest.mark.parametrize(
    "text", ["[]", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}', '{"hooks": null}']
)
def test_what_stands_in_the_way_is_named_and_left(text: str) -> None:
    with pytest.raises(InstallError, match=r"^line 1: .* is not what its agent expects"):
        added(text, WHERE, OURS)
    assert removed(text, WHERE, is_ours, ()) == text


def test_without_a_trace_what_it_emptied_goes_too() -> None:
    more, _ = added('{\n  "a": 1\n}\n', WHERE, OURS)
    assert removed(json.dumps(json.loads(more)), WHERE, is_ours, ()) == '{"a": 1}'
