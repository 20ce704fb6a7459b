"""What a transcript shows of writes below <memory> reaches the store, late perhaps."""

from functools import partial
from pathlib import Path

from person import Person
from storing import fact

from extractord.edges.store import Writer
from extractord.edges.store.lock import locked
from extractord.heeding import Heeding
from extractord.storeroom import another_store, storeroom

PLACE = "user/likes.md"


async def test_what_an_agent_wrote_is_told_at_the_next_look_where_the_store_was_busy(tmp_path: Path) -> None:
    person = Person(tmp_path / "me")
    said: list[str] = []
    with storeroom(person.settings, print) as room:
        writer = Writer(partial(another_store, person.settings, room.state))
        heeding = Heeding(writer, person.settings, said.append, room.store.clock)
        await heeding.look()
        person.writes("user", "likes.md", fact("likes", "I like short answers best", "user"))
        with locked(person.memory):
            await heeding.witness([PLACE])
        assert [row.withheld for row in room.store.survey("user")] == [""]
        await heeding.look()
        (row,) = room.store.survey("user")
        assert row.withheld.startswith("unstated: ")
        assert said == []
        await writer.close()


async def test_a_root_that_cannot_be_used_keeps_no_other_from_being_told(tmp_path: Path) -> None:
    person = Person(tmp_path / "me")
    bad = "projects/bad-0123456789abcdef"
    person.writes("user", "likes.md", fact("likes", "I like short answers best", "user"))
    person.writes(bad, "tabs.md", fact("tabs", "Tabs are used"))
    (person.memory / bad).chmod(0o770)
    said: list[str] = []
    with storeroom(person.settings, said.append) as room:
        said.clear()
        writer = Writer(partial(another_store, person.settings, room.state))
        heeding = Heeding(writer, person.settings, said.append, room.store.clock)
        await heeding.witness([f"{bad}/tabs.md", PLACE])
        (row,) = room.store.survey("user")
        assert row.withheld.startswith("unstated: ")
        await writer.close()
        assert [f"{bad}: others may write in it" in each for each in said] == [True]
