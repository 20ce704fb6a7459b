"""What becomes of memories when the ledger is damaged or lost, or a folder vanishes."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from crashing import check
from person import SHOP_ROOT, Person
from storing import PROJECT, fact

from extractord.core.records import Outcome
from extractord.edges.ledger import Ledger
from extractord.edges.state import State
from extractord.errors import DamagedLedgerError, LedgerError
from extractord.storeroom import storeroom

WORDS = "Deploys happen on Tuesdays only"
TABS = "The project is indented with tabs"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """One memory that stays and one that was forgotten."""
    made = Person(tmp_path / "me")
    for path, words in (("deploys.md", WORDS), ("tabs.md", TABS)):
        assert made.run([(PROJECT, path, fact(path[:-3], words))], words).outcome is Outcome.SAVED
    made.types("memories", "forget", "tabs")
    return made


def damaged(person: Person) -> list[Path]:
    return sorted(person.state.glob("ledger.db.damaged-*"))


@pytest.mark.parametrize("damage", ["header", "empty", "middle"])
def test_a_damaged_ledger_is_set_aside_and_nothing_forgotten_returns(person: Person, damage: str) -> None:
    place = person.state / "ledger.db"
    raw = place.read_bytes()
    wrong = {
        "header": b"x" * 100 + raw[100:],
        "empty": b"",
        "middle": raw[:8192] + b"\xff" * 16384 + raw[24576:],
    }
    place.write_bytes(wrong[damage])
    (person.memory / SHOP_ROOT / ".tmp-0123456789abcdef").write_text("half")
    said: list[str] = []
    with storeroom(person.settings, said.append, serving=True) as room:
        (warning,) = said
        assert str(damaged(person)[0]) in warning
        assert damaged(person)[0].read_bytes() == wrong[damage]
        assert [row.kind for row in room.ledger.audit.recent(9)] == ["rebuilt"]
        (row,) = room.store.survey(SHOP_ROOT)
        assert (row.path, row.foreign) == ("deploys.md", True)
        assert [stone.name for stone in room.ledger.versions.tombstones()] == ["tabs"]
        assert not (person.memory / SHOP_ROOT / ".tmp-0123456789abcdef").exists()
    with storeroom(person.settings, said.append, serving=True):
        assert len(said) == 1


def test_a_lost_ledger_brings_nothing_forgotten_back_either(person: Person) -> None:
    old = json.loads((person.state / "tombstones.jsonl").read_text().splitlines()[0])
    for file in person.state.glob("ledger.db*"):
        file.unlink()
    with storeroom(person.settings, print) as room:
        assert [stone.key for stone in room.ledger.versions.tombstones()] == [old["key"]]
    said_before = person.run([(PROJECT, "tabs.md", fact("tabs", TABS))], TABS, at=person.began)
    assert [refusal.rule for refusal in said_before.refusals] == ["forgotten"]
    assert person.run([(PROJECT, "tabs.md", fact("tabs", TABS))], TABS).outcome is Outcome.SAVED


def test_while_a_daemon_lives_its_damaged_ledger_is_not_taken_from_it(person: Person) -> None:
    place = person.state / "ledger.db"
    place.write_bytes(b"x" * 4096)
    script = (
        "import sys, time; from pathlib import Path; from extractord.edges.state import State\n"
        "state = State.open(Path(sys.argv[1])); state.lock(); print(flush=True); time.sleep(60)"
    )
    daemon = subprocess.Popen(
        [sys.executable, "-c", script, str(person.state)], stdout=subprocess.PIPE, env=person.environ()
    )
    try:
        assert daemon.stdout is not None
        daemon.stdout.readline()
        with pytest.raises(LedgerError, match="restart it"), storeroom(person.settings, print):
            pass
        assert damaged(person) == []
    finally:
        daemon.kill()
        daemon.communicate()
    with storeroom(person.settings, print):
        assert len(damaged(person)) == 1


def test_what_only_reads_leaves_a_damaged_ledger_where_it_is(person: Person) -> None:
    place = person.state / "ledger.db"
    place.write_bytes(b"x" * 4096)
    listed = person.types("memories", "list")
    assert (listed.returncode, "is damaged" in listed.stderr) == (1, True)
    assert place.read_bytes() == b"x" * 4096


def test_a_sound_ledger_is_checked_and_a_broken_page_found(person: Person) -> None:
    with Ledger.open(person.state) as ledger:
        ledger.check()
    place = person.state / "ledger.db"
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw = place.read_bytes()
    place.write_bytes(raw[:8192] + b"\xff" * 16384 + raw[24576:])
    with Ledger.open(person.state) as ledger, pytest.raises(DamagedLedgerError):
        ledger.check()


def test_a_folder_that_vanished_whole_is_no_deletion(person: Person) -> None:
    folder = person.memory / SHOP_ROOT
    for file in folder.iterdir():
        file.unlink()
    with storeroom(person.settings, print) as room:
        (warning,) = room.store.notice([SHOP_ROOT])
    assert "nothing was forgotten" in warning
    assert len((person.state / "tombstones.jsonl").read_text().splitlines()) == 1


def test_the_identity_outlives_the_ledger(person: Person) -> None:
    with State.open(person.state) as state:
        before = state.identity
    for file in person.state.glob("ledger.db*"):
        file.unlink()
    with storeroom(person.settings, print) as room:
        assert room.state.identity == before


def test_a_root_that_was_put_back_while_a_process_lives_is_the_one_that_it_writes_in(person: Person) -> None:
    root = person.memory / SHOP_ROOT
    with storeroom(person.settings, print) as room:
        before = room.store.names()
        assert room.store.notice(before) == ()
        backup = person.home / "backup"
        root.rename(backup)
        assert SHOP_ROOT not in room.store.names()
        shutil.copytree(backup, root)
        root.chmod(0o700)
        assert room.store.notice(before) == ()
        words = "The port is nine thousand and one"
        kept = person.run([(PROJECT, "late.md", fact("late", words))], words, room=room)
        assert kept.outcome is Outcome.SAVED
        assert words in (root / "late.md").read_text()
        assert not (backup / "late.md").exists()
        check(person, room)
