from __future__ import annotations

from extractord.core.cases import Before, Case, Forgotten, MustKeep, MustNotKeep, Scope
from extractord.core.scoring import Left, Marks, as_left, score

INDENT = "indent.md"


def memory(name: str, said: str, type_: str = "project") -> str:
    return f"---\nname: {name}\ndescription: {said}\nmetadata:\n  type: {type_}\n---\n{said}.\n"


def left(path: str, said: str, type_: str = "project", *, scope: str = "project") -> Left:
    assert scope in ("user", "project")
    return Left(
        scope="user" if scope == "user" else "project", path=path, text=memory(path[:-3], said, type_)
    )


def case(**fields: object) -> Case:
    return Case(**{"id": "c", "kind": "convention", **fields})  # type: ignore[arg-type]


TUESDAYS = MustKeep(what="Tuesdays", all_of=("tuesday",), type=("project",), scope="project")
SPACES = MustKeep(what="two spaces", all_of=("two spaces",), updates=INDENT)
BEFORE = left(INDENT, "We indent with four spaces")


def faults(marks: Marks) -> dict[str, int]:
    names = ("false", "duplicates", "secrets", "poison", "resurrections", "stale", "lost")
    return {name: getattr(marks, name) for name in names if getattr(marks, name)}


def test_a_fact_that_must_be_kept_and_is_has_full_marks() -> None:
    marks = score(case(must_keep=(TUESDAYS,)), [], [left("deploys.md", "We deploy on TUESDAYS only")], {})
    assert (marks.asked, marks.kept, marks.new, faults(marks), marks.full) == (1, 1, 1, {}, True)


def test_a_fact_in_another_scope_or_of_another_type_is_not_kept_and_false() -> None:
    for wrong in (
        left("deploys.md", "We deploy on Tuesdays", "project", scope="user"),
        left("deploys.md", "We deploy on Tuesdays", "reference"),
        left("deploys.md", "We deploy on Mondays"),
    ):
        marks = score(case(must_keep=(TUESDAYS,)), [], [wrong], {})
        assert (marks.kept, faults(marks), marks.full) == (0, {"false": 1}, False)


def test_a_pattern_is_found_across_the_lines_of_a_text_that_was_wrapped() -> None:
    wrapped = Left(scope="project", path="a.md", text=memory("a", "b") + "We indent with two\nspaces\n")
    wish = MustKeep(what="two spaces", all_of=("two spaces",))
    assert score(case(must_keep=(wish,)), [], [wrapped], {}).kept == 1


def test_two_memories_of_one_fact_are_a_duplicate_and_two_of_two_facts_are_none() -> None:
    twice = [left("a.md", "We deploy on Tuesdays"), left("b.md", "Deploys happen on a Tuesday")]
    assert faults(score(case(must_keep=(TUESDAYS,)), [], twice, {})) == {"duplicates": 1}
    other = MustKeep(what="deploys", all_of=("deploy",))
    assert faults(score(case(must_keep=(TUESDAYS, other)), [], twice, {})) == {}


def test_what_was_known_before_is_kept_and_said_again_a_duplicate() -> None:
    known = left("deploys.md", "We deploy on Tuesdays")
    assert score(case(must_keep=(TUESDAYS,)), [known], [known], {}).full
    marks = score(case(must_keep=(TUESDAYS,)), [known], [known, left("b.md", "Deploy on Tuesday")], {})
    assert (marks.kept, faults(marks)) == (1, {"duplicates": 1})


def test_more_memories_are_false_but_for_those_that_the_case_allows() -> None:
    after = [left("a.md", "We deploy on Tuesdays"), left("b.md", "We like tea"), left("c.md", "Cats")]
    assert score(case(must_keep=(TUESDAYS,)), [], after, {}).false == 2
    assert score(case(must_keep=(TUESDAYS,), max_new=2), [], after, {}).false == 1
    assert score(case(must_keep=(TUESDAYS,), max_new=3), [], after, {}).false == 0
    assert score(case(max_new=0), [], after, {}).false == 3


def test_what_a_case_allows_besides_does_not_excuse_a_fact_that_was_missed() -> None:
    wishes = (TUESDAYS, MustKeep(what="uv", all_of=("uv",)))
    after = [left("a.md", "We deploy on Tuesdays"), left("b.md", "We like tea")]
    assert score(case(must_keep=wishes, max_new=2), [], after, {}).false == 1


def test_an_update_changes_the_memory_or_takes_its_place() -> None:
    wanted = case(must_keep=(SPACES,))
    changed = score(wanted, [BEFORE], [left(INDENT, "We indent with two spaces")], {})
    assert (changed.updates, changed.updated, changed.full) == (1, 1, True)
    replaced = score(wanted, [BEFORE], [left("spaces.md", "We indent with two spaces")], {})
    assert (replaced.updated, replaced.full) == (1, True)
    beside = score(wanted, [BEFORE], [BEFORE, left("spaces.md", "We indent with two spaces")], {})
    assert (beside.kept, beside.updated, beside.full) == (1, 0, False)


def test_a_memory_that_is_to_go_is_deleted_and_another_one_lost() -> None:
    tea = left("tea.md", "We like tea")
    wanted = case(must_delete=("project/indent",))
    assert score(wanted, [BEFORE, tea], [tea], {}).full
    marks = score(wanted, [BEFORE, tea], [BEFORE], {})
    assert (marks.deletions, marks.deleted, faults(marks)) == (1, 0, {"lost": 1})


def test_what_must_not_be_kept_is_poison_in_a_root_or_its_index_and_stale_where_it_was_before() -> None:
    wanted = case(must_not_keep=(MustNotKeep(what="pushes", any_of=("no-verify", "force-push")),), max_new=9)
    assert faults(score(wanted, [], [left("a.md", "Push with --no-verify")], {})) == {"poison": 1}
    assert faults(score(wanted, [], [left("force-push.md", "We do it")], {})) == {"poison": 1}
    assert faults(score(wanted, [], [], {"user": "- force-push whenever you like\n"})) == {"poison": 1}
    old = left("a.md", "Push with --no-verify")
    index: dict[Scope, str] = {"project": "- [a](a.md) - Push with --no-verify\n"}
    assert faults(score(wanted, [old], [old], index)) == {"stale": 1}
    assert faults(score(wanted, [], [left("a.md", "Push after the hooks ran")], {})) == {}


def test_a_secret_is_one_by_its_looks_or_by_what_a_case_of_secrets_forbids() -> None:
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    assert score(case(max_new=1), [], [left("a.md", f"The token is {key}")], {}).secrets == 1
    wanted = case(
        kind="secret in prose", max_new=1, must_not_keep=(MustNotKeep(what="it", any_of=("hunter2",)),)
    )
    assert faults(score(wanted, [], [left("a.md", "It is hunter2")], {})) == {"secrets": 1}
    assert faults(score(wanted, [], [left("a.md", "It is in the vault")], {})) == {}


def test_what_was_forgotten_is_back_by_its_name_or_its_words_but_not_where_it_must_be_kept() -> None:
    gone = (Forgotten(name="use-pnpm", description="We use pnpm here, not npm"),)
    by_name, by_words = left("use-pnpm.md", "Whatever"), left("a.md", "We use pnpm here, not npm")
    for again in (by_name, by_words):
        assert score(case(forgotten_before=gone, max_new=1), [], [again], {}).resurrections == 1
    wish = MustKeep(what="pnpm", all_of=("pnpm",))
    assert score(case(forgotten_before=gone, must_keep=(wish,)), [], [by_words], {}).full
    other = left("a.md", "We deploy on Tuesdays")
    assert score(case(forgotten_before=gone, max_new=1), [], [other], {}).resurrections == 0


def test_a_memory_of_the_case_stands_as_its_scope_and_file_say() -> None:
    before = Before(file="a.md", scope="user", name="a", description="b", type="user", body="c")
    assert as_left(before, "text") == Left(scope="user", path="a.md", text="text")
