import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.core.index import Listed, derive, line, target

A = Listed(path="a.md", title="A", hook="about a")
B = Listed(path="sub/b.md", title="B")


def test_the_first_index_has_a_line_for_each_memory_in_their_order() -> None:
    assert derive("", [B, A]) == "- [B](sub/b.md)\n- [A](a.md) — about a\n"
    assert derive("", []) == ""


def test_peoples_lines_wording_and_order_stay_and_what_is_missing_comes_after_the_last_entry() -> None:
    current = (
        "# Mine\n\n* [My A](./a.md): in my words\n\nSee [docs](https://e.org/x.md) and [up](../README.md).\n"
    )
    assert derive(current, [A, B]) == (
        "# Mine\n\n* [My A](./a.md): in my words\n- [B](sub/b.md)\n\n"
        "See [docs](https://e.org/x.md) and [up](../README.md).\n"
    )


def test_an_entry_without_its_file_is_dropped_and_a_link_elsewhere_is_none() -> None:
    current = "- [Gone](gone.md)\n- [Up](../x.md)\n- [Web](https://e.org/x.md)\n- [Pic](p.png)\n- [A](a.md)\n"
    assert (
        derive(current, [A]) == "- [Up](../x.md)\n- [Web](https://e.org/x.md)\n- [Pic](p.png)\n- [A](a.md)\n"
    )


def test_our_own_line_follows_its_memory_and_a_persons_does_not() -> None:
    newer = Listed(path="a.md", title="A", hook="news of a")
    assert derive(line(A) + "\n", [newer], lambda path: [A] if path == "a.md" else []) == line(newer) + "\n"
    assert (
        derive("- [A](a.md) — my words\n", [newer], lambda path: [A] if path == "a.md" else [])
        == "- [A](a.md) — my words\n"
    )


def test_a_bad_file_keeps_its_line_marked_until_it_is_good_again() -> None:
    bad = Listed(path="a.md", title="a", fault="a.md: not YAML --> x")
    marked = "- [My A](a.md) <!-- unreadable: a.md: not YAML - -> x -->\n"
    assert derive("- [My A](a.md)\n", [bad, B]) == marked + "- [B](sub/b.md)\n"
    assert derive(marked, [bad]) == marked
    assert derive(marked, [A]) == "- [My A](a.md)\n"
    assert derive("", [bad]) == ""


@pytest.mark.parametrize(
    ("current", "want"),
    [
        ("x\r\n- [A](a.md)\r\n", "x\r\n- [A](a.md)\r\n- [B](sub/b.md)\r\n"),
        ("x\r\n- [A](a.md)", "x\r\n- [A](a.md)\r\n- [B](sub/b.md)"),
        ("- [A](a.md)\n\ny", "- [A](a.md)\n- [B](sub/b.md)\n\ny"),
        ("x", "x\n- [A](a.md) — about a\n- [B](sub/b.md)"),
    ],
)
def test_line_ends_and_a_missing_last_one_are_kept(current: str, want: str) -> None:
    assert derive(current, [A, B]) == want


def test_no_name_and_no_description_leaves_its_line() -> None:
    evil = Listed(path="a (1).md", title="x](y.md)\n- [z", hook="one\r\n# two\u2028- [q](q.md)\x00")
    assert line(evil) == r"- [x\](y.md) - \[z](<a (1).md>) — one # two - [q](q.md)"
    assert target(line(evil), {"a (1).md"}) == "a (1).md"
    assert line(Listed(path="a.md", title="t" * 400)) == f"- [{'t' * 299}…](a.md)"


@given(
    st.lists(
        st.text(min_size=1, max_size=8).map(lambda name: name.replace("/", "") + ".md"),
        unique=True,
        max_size=5,
    ),
    st.text(max_size=12),
    st.text(max_size=12),
    st.text(alphabet="a- []()<>.md\r\n#é\\", max_size=60),
)
@settings(max_examples=300)
def test_every_memory_has_its_line_and_a_second_look_changes_nothing(
    paths: list[str], title: str, hook: str, current: str
) -> None:
    memories = [Listed(path=path, title=title, hook=hook) for path in paths]
    index = derive(current, memories)
    assert {target(text.removesuffix("\r"), paths) for text in index.split("\n")} - {"", None} == set(paths)
    assert derive(index, memories) == index
    assert derive(index, memories, lambda _: memories) == index


@given(st.text(alphabet="ab \r\n#é", max_size=60))
def test_an_index_of_peoples_lines_alone_is_untouched(current: str) -> None:
    assert derive(current, []) == current
