import pytest

from extractord.core.memory import Memory, parse
from extractord.core.taking import Shape, Taken, composed, has_added, named, taken
from extractord.policy.requests import RootKind


def told(shape: Shape, text: str) -> list[tuple[str, str, str]]:
    return [(fact.name, fact.description, fact.body) for fact in taken(shape, text, "/there/tabs.md")]


def test_a_file_with_front_matter_keeps_its_name_and_words_and_loses_our_stamps() -> None:
    front = "name: tabs\ndescription: Tabs it is\nmetadata:\n  type: feedback\n  trust: confirmed"
    assert list(taken("file", f"---\n{front}\n---\nTabs.\n", "/there/x.md")) == [
        Taken(name="tabs", description="Tabs it is", body="Tabs.", type="feedback", source="/there/x.md")
    ]


def test_a_file_without_is_named_for_its_heading_or_itself_and_an_empty_one_is_nothing() -> None:
    assert told("file", "# On tabs\n\nTabs it is.\n") == [("on-tabs", "On tabs", "# On tabs\n\nTabs it is.")]
    assert told("file", "Tabs it is.\n") == [("tabs", "Tabs it is.", "Tabs it is.")]
    assert told("file", " \n") == []
    with pytest.raises(ValueError, match="YAML"):
        told("file", "---\nname: [\n---\nx\n")


def test_what_an_agent_added_to_a_persons_file_is_taken_and_the_rest_is_not() -> None:
    added = "## Gemini Added Memories\n- Tabs it is\n  always\n* [ ] No emoji\n"
    text = f"# Rules\n- mine\n\n{added}\n## More\n- mine\n"
    assert has_added(text)
    assert told("list", text) == [
        ("tabs-it-is-always", "Tabs it is always", "Tabs it is\n  always"),
        ("no-emoji", "No emoji", "No emoji"),
    ]
    assert not has_added("# Rules\n- mine\n")


def test_paragraphs_sections_and_strings_are_facts_too() -> None:
    assert [name for name, _, _ in told("list", "# Log\nTabs it is.\n\nNo emoji.\n")] == [
        "tabs-it-is",
        "no-emoji",
    ]
    assert told("sections", "# Top\n## Tabs\nTabs it is\n- always\n## Empty\n") == [
        ("tabs", "Tabs: Tabs it is", "Tabs it is\n- always")
    ]
    assert told("sections", "Tabs it is\n") == [("tabs-it-is", "Tabs it is", "Tabs it is")]
    assert told("strings", '["prefers tabs", " ", "No emoji"]') == [
        ("prefers-tabs", "prefers tabs", "prefers tabs"),
        ("no-emoji", "No emoji", "No emoji"),
    ]
    for wrong in ('{"a": 1}', "[1]", "[", "", "[" * 100_000):
        with pytest.raises(ValueError, match="not a list of texts"):
            told("strings", wrong)


@pytest.mark.parametrize(
    ("kind", "type_", "wanted"),
    [
        (RootKind.USER, "", "user"),
        (RootKind.USER, "feedback", "feedback"),
        (RootKind.USER, "project", "user"),
        (RootKind.PROJECT, "", "project"),
        (RootKind.PROJECT, "reference", "reference"),
        (RootKind.PROJECT, "user", "project"),
    ],
)
def test_a_memory_has_a_type_of_its_root_and_says_what_was_said(
    kind: RootKind, type_: str, wanted: str
) -> None:
    fact = Taken(name="a: b", description="# No: 'x'", body="\nBody\n\n", type=type_, source="there")
    memory = parse(composed(fact, kind))
    assert isinstance(memory, Memory)
    assert (memory.name, memory.description, memory.type, memory.body) == (
        "a: b",
        "# No: 'x'",
        wanted,
        "Body\n",
    )


def test_a_name_is_of_words_alone_in_any_script_and_never_empty() -> None:
    assert named("../../etc/passwd: Über $HOME `rm`!") == "etc-passwd-über-home-rm"
    assert named("仓库在周一盘点") == "仓库在周一盘点"
    assert named("…") == "fact"
    assert len(named("word " * 100)) <= 60
