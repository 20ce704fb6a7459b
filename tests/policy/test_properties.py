"""What holds of every path and every text, whatever it is."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.policy import PATH_RULES, find_place, judge, parse_rm
from extractord.policy.characters import IGNORABLE, IGNORABLE_RANGES, likeness, skeleton
from extractord.policy.requests import (
    VIRTUAL_ROOTS,
    Edit,
    Facts,
    Found,
    Law,
    PathFacts,
    Read,
    Remove,
    Request,
    RootKind,
    RunFacts,
    Trust,
    Write,
)
from extractord.policy.verdict import Allow, Deny, Hold

LAW = Law(roots=VIRTUAL_ROOTS)


def judge_path(path: str) -> Allow | Hold | Deny:
    return judge(Write(path, ""), Facts(), LAW, PATH_RULES)


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
SEGMENTS = st.text(
    st.one_of(
        st.sampled_from("abcXYZ019-_.+,@() /:~'\"$\\"),
        st.characters(categories=("Ll", "Lu", "Lo", "Mn", "Mc", "Nd", "Cf", "Cs", "Zs", "So")),
    ),
    max_size=24,
)
PATHS = st.one_of(
    ANY_TEXT,
    st.builds(
        lambda prefix, segments, suffix: "/".join([prefix, *segments]) + suffix,
        st.sampled_from(["/memory/user", "/memory/project", "/memory/projects", "memory/user", "/"]),
        st.lists(SEGMENTS, min_size=1, max_size=4),
        st.sampled_from([".md", ".MD", "", ".md ", "\n"]),
    ),
)
IGNORABLES = st.sampled_from(
    [chr(point) for first, last in IGNORABLE_RANGES for point in range(first, last + 1)]
)
ALLOWED = st.from_regex(
    r"/memory/(user|project)/[a-z0-9]{1,8}(/[a-z0-9\u00e0-\u00ef\u0430-\u044f]{4,8}x?)?\.md", fullmatch=True
)


@given(PATHS)
@settings(max_examples=500)
def test_an_allowed_path_is_canonical_visible_and_under_its_root_as_it_stands(path: str) -> None:
    if judge_path(path) != Allow():
        return
    place = find_place(path, LAW)
    assert place.root is not None
    assert path == f"{place.root.prefix}/{place.below}"
    assert unicodedata.is_normalized("NFKC", path)
    assert IGNORABLE.search(path) is None
    assert path.encode().decode() == path
    assert not {"", ".", ".."} & set(place.segments)
    assert path.endswith(".md")


@given(ALLOWED, IGNORABLES, st.data())
@settings(max_examples=300)
def test_one_invisible_character_anywhere_turns_allow_into_deny(
    path: str, char: str, data: st.DataObject
) -> None:
    if judge_path(path) != Allow():
        return
    at = data.draw(st.integers(0, len(path)))
    assert isinstance(judge_path(path[:at] + char + path[at:]), Deny)


@given(ALLOWED, st.integers(1, 0x1F).map(chr) | st.just("\x7f") | st.just("\x00"), st.data())
@settings(max_examples=100)
def test_one_control_character_anywhere_turns_allow_into_deny(
    path: str, char: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(path)))
    assert isinstance(judge_path(path[:at] + char + path[at:]), Deny)


FACTS = st.builds(
    PathFacts,
    found=st.sampled_from(Found),
    links=st.integers(0, 2),
    own=st.booleans(),
    same_device=st.booleans(),
    twin=st.none() | ANY_TEXT,
    size=st.integers(0, 1 << 20),
    text=st.none() | ANY_TEXT,
    trust=st.none() | st.sampled_from(Trust),
    foreign=st.booleans(),
    pinned=st.booleans(),
)
RUNS = st.builds(
    RunFacts,
    trust=st.sampled_from(Trust),
    reason=ANY_TEXT,
    removals=st.dictionaries(st.sampled_from(RootKind), st.integers(0, 30)),
    memories=st.dictionaries(st.sampled_from(RootKind), st.integers(0, 30)),
    has_project=st.booleans(),
)
BODIES = st.one_of(ANY_TEXT, ANY_TEXT.map(lambda text: f"---\n{text}\n---\n{text}"))


@given(PATHS, BODIES, ANY_TEXT, FACTS, st.none() | RUNS)
@settings(max_examples=300)
def test_judge_never_raises_and_its_reasons_can_be_written(
    path: str, text: str, other: str, there: PathFacts, run: RunFacts | None
) -> None:
    requests: tuple[Request, ...] = (
        Read(path),
        Write(path, text),
        Edit(path, other, text),
        Remove((path, other)),
    )
    for request in requests:
        for facts in (Facts(), Facts({path: there, other: there}, run)):
            match judge(request, facts, LAW):
                case Hold(reason=reason) | Deny(reason=reason):
                    assert reason
                case Allow():
                    pass


@given(ANY_TEXT | st.text("rm -f'\"/{}$(`\\\n", max_size=30))
@settings(max_examples=300)
def test_parse_rm_never_raises_and_gives_only_absolute_paths(command: str) -> None:
    match parse_rm(command):
        case Remove(paths=paths):
            assert paths
            assert all(path.startswith("/") and path in command for path in paths)
        case Deny(reason=reason):
            assert reason.encode()


@given(ANY_TEXT)
@settings(max_examples=200)
def test_case_and_normal_form_do_not_change_a_likeness(text: str) -> None:
    assert likeness(text) == likeness(unicodedata.normalize("NFD", text)) == likeness(text.casefold())
    assert skeleton(skeleton(text)) == skeleton(text)


@given(st.text("abc- .\u0301\u0430", min_size=1, max_size=12), FACTS)
@settings(max_examples=200)
def test_facts_can_only_make_a_path_verdict_stricter(name: str, there: PathFacts) -> None:
    path = f"/memory/user/{name}.md"
    if isinstance(judge_path(path), Deny):
        assert isinstance(judge(Write(path, ""), Facts({path: there}), LAW), Deny)
