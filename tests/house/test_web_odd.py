from pathlib import Path

import pytest
from person import SHOP_ROOT, Person
from storing import fact
from visiting import Visit, visited

PAGES = ("memories", "held", "runs", "spending", "status", "search")


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "me")


def reads(visit: Visit, page: str, status: int = 200) -> str:
    answer = visit.asks(page)
    assert answer.status == status, answer.text
    return answer.text


def test_where_nothing_is_yet_each_page_says_what_to_do(person: Person) -> None:
    with visited(person) as visit:
        says = {page: reads(visit, page) for page in PAGES}
    assert "<code>extractord extract</code> reads those that are there already" in says["memories"]
    assert "Nothing is held." in says["held"]
    assert "No run yet." in says["runs"]
    assert "Nothing was spent" in says["spending"]
    assert "<code>extractord run</code> starts it" in says["status"]
    assert "What do you look for?" in says["search"]


def test_files_that_are_no_memories_are_shown_as_what_they_are_and_stop_no_other(person: Person) -> None:
    person.writes(SHOP_ROOT, "good.md", fact("good", "a fact"))
    person.writes(SHOP_ROOT, "broken.md", "---\nname: [\n---\nwords\n")
    person.writes(SHOP_ROOT, "large.md", "x" * 300_000)
    (person.memory / SHOP_ROOT / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (person.memory / SHOP_ROOT / "link.md").symlink_to("/etc/passwd")
    with visited(person) as visit:
        listed = reads(visit, "memories")
        assert listed.count("at fault</span>") == 3
        assert "link.md" not in listed
        assert reads(visit, f"memory?at={SHOP_ROOT}/link.md", 404)
        for name, can_edit in (("good", True), ("broken", True), ("large", False), ("bytes", False)):
            shown = reads(visit, f"memory?at={SHOP_ROOT}/{name}.md")
            assert ("Its bytes are untouched" in shown) == (name != "good"), name
            assert ('accesskey="e">Edit</a>' in shown) == can_edit, name
        refused = visit.asks(f"memory/edit?at={SHOP_ROOT}/bytes.md")
        assert refused.status == 500
        assert "bytes.md" in refused.text
        assert reads(visit, "memory?at=/etc/passwd", 404)
        assert reads(visit, f"memory?at={SHOP_ROOT}/../../../../etc/passwd", 404)
        assert reads(visit, "memory", 404)


def test_a_root_that_cannot_be_used_is_said_on_the_page_and_the_others_are_shown(person: Person) -> None:
    person.writes(SHOP_ROOT, "good.md", fact("good", "a fact"))
    person.writes("projects/bad-0123456789abcdef", "other.md", fact("other", "another"))
    (person.memory / "projects" / "bad-0123456789abcdef").chmod(0o777)
    with visited(person) as visit:
        page = reads(visit, "memories")
    assert "others may write in it; run `chmod go-w` on it" in page
    assert ("a fact" in page, "another" in page) == (True, False)


def test_memories_are_filtered_and_sorted_and_many_come_in_pages(person: Person) -> None:
    for number in range(205):
        person.writes("user", f"fact-{number:03}.md", fact(f"fact-{number:03}", f"number {number}", "user"))
    person.writes(SHOP_ROOT, "where.md", fact("where", "a reference", "reference"))
    with visited(person) as visit:
        first, second = reads(visit, "memories?sort=name"), reads(visit, "memories?sort=name&page=2")
        assert ("fact-199" in first, "fact-200" in first) == (True, False)
        assert ("fact-199" in second, "fact-200" in second, "where" in second) == (False, True, True)
        assert "1 to 200 of 206" in first
        only = reads(visit, "memories?type=reference")
        assert ("where" in only, "fact-0" in only, "1 of 206 memories" in only) == (True, False, True)
        assert "No memory is like that." in reads(visit, "memories?trust=confirmed")
        assert "fact-000" in reads(visit, "memories?standing=foreign&sort=oldest")
        assert "No memory is like that." in reads(visit, "memories?standing=never+opened")
        for nonsense in ("page=0", "page=-1", "page=x", "page=99999999999", "sort=x", "root=../.."):
            assert visit.asks(f"memories?{nonsense}").status == 200
