import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from person import SHOP_ROOT, Person
from storing import fact
from visiting import Visit, visited

EXAMPLE = Path(__file__).parents[2] / "docs" / "example" / "claude-code" / "projects"
SESSION = "5d0f6c1e-8f6b-4a55-9a43-2f1f3c7f0a01"
NAME = "deploy-only-on-tuesdays"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    made = Person(tmp_path / "me")
    shutil.copytree(EXAMPLE, made.home / ".claude" / "projects")
    done = made.types("extract")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def visit(person: Person) -> Iterator[Visit]:
    with visited(person) as found:
        yield found


def transcript(person: Person) -> Path:
    return next((person.home / ".claude").rglob(f"{SESSION}.jsonl"))


def reads(visit: Visit, person: Person) -> str:
    (row,) = [row for row in person.told("memories", "list") if row["name"] == NAME]
    place = f"{row['root']}/{row['path']}"
    assert "the words themselves" in visit.asks(f"memory?at={place}").text
    answer = visit.asks(f"memory/said?at={place}")
    assert answer.status == 200
    return unescape(answer.text)


def test_the_words_that_a_memory_rests_on_are_shown_with_what_was_said_around_them(
    visit: Visit, person: Person
) -> None:
    page = reads(visit, person)
    it = page.partition('aria-label="The words that the memory rests on"')[2].partition("</article>")[0]
    assert "<strong>You</strong>" in it
    assert "remember: we deploy only on Tuesdays, because the warehouse counts stock on Mondays." in it
    assert "I can load them together again." in page
    assert str(transcript(person)) in page


def test_secrets_in_them_are_redacted_and_what_is_long_is_cut(visit: Visit, person: Person) -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    place = transcript(person)
    place.write_text(place.read_text().replace("Yes please.", f"Yes, with {secret}. " + "x" * 5000 + " <b>"))
    page = reads(visit, person)
    assert secret not in page
    assert "more characters" in page
    assert "<b>" not in page


def test_where_they_are_gone_the_page_says_so(visit: Visit, person: Person) -> None:
    place = transcript(person)
    place.rename(place.with_name("elsewhere"))
    assert "agents delete old ones" in reads(visit, person)
    place.symlink_to("elsewhere")
    assert "is not a plain file" in reads(visit, person)
    place.unlink()
    place.write_text("{}\n")
    assert "holds that entry any more" in reads(visit, person)


def test_what_was_written_by_hand_names_no_session(visit: Visit, person: Person) -> None:
    person.writes(SHOP_ROOT, "mine.md", fact("mine", "a fact"))
    answer = visit.asks(f"memory/said?at={SHOP_ROOT}/mine.md")
    assert (answer.status, "names no session" in answer.text) == (404, True)
    assert "the words themselves" not in visit.asks(f"memory?at={SHOP_ROOT}/mine.md").text
