"""The ledger's file: made whole, migrated after a copy, refused where it is newer or unsound."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from extractord.core.ports import Spent
from extractord.edges.ledger import Ledger
from extractord.edges.ledger.schema import STEPS, Step, open_file, open_to_read
from extractord.errors import DamagedLedgerError, LedgerError

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def write_one(state: Path) -> bytes:
    """Make a ledger with one closed exchange; return its file's bytes."""
    with Ledger.open(state) as ledger:
        ledger.ranges.close("pi", "s1", ["k1"], "no_prose", NOW)
    return (state / "ledger.db").read_bytes()


def test_it_is_made_for_its_owner_alone_and_durable(tmp_path: Path) -> None:
    state = tmp_path / "a" / "state"
    with Ledger.open(state) as ledger:
        ledger.ranges.close("pi", "s1", ["k1"], "no_prose", NOW)
        modes = {path.name: path.stat().st_mode & 0o777 for path in state.iterdir()}
        set_to = {
            name: ledger._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "user_version", "busy_timeout")
        }
    assert state.stat().st_mode & 0o777 == 0o700
    assert modes == {"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}
    assert set_to == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "user_version": len(STEPS),
        "busy_timeout": 5000,
    }


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    write_one(tmp_path)
    with Ledger.open(tmp_path) as ledger:
        assert ledger.ranges.states("pi", "s1")["k1"].reason == "no_prose"


def test_a_file_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    write_one(tmp_path)
    (tmp_path / "ledger.db").chmod(0o644)
    with Ledger.open(tmp_path):
        assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600


def test_two_open_it_at_once_and_see_each_other(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as one, Ledger.open(tmp_path) as other:
        one.ranges.save_cursor("/t", "pi", "s1", b"c")
        assert other.ranges.cursor("/t") == b"c"


def test_a_busy_ledger_is_an_error_that_says_so_and_reading_goes_on(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as one, Ledger.open(tmp_path) as other:
        other._connection.execute("PRAGMA busy_timeout = 50")
        with one.transaction():
            with pytest.raises(LedgerError, match=r"ledger\.db: database is locked"):
                other.ranges.close("pi", "s1", ["k1"], "no_prose", NOW)
            assert other.ranges.states("pi", "s1") == {}
        other.ranges.close("pi", "s1", ["k1"], "no_prose", NOW)


def test_a_newer_ledger_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    newer = (*STEPS, ("CREATE TABLE of_tomorrow(x)",))
    open_file(tmp_path / "ledger.db", newer).close()
    before = (tmp_path / "ledger.db").read_bytes()
    for readonly in (False, True):
        with pytest.raises(LedgerError, match=r"newer extractord.*install that version"):
            Ledger.open(tmp_path, readonly=readonly)
    assert (tmp_path / "ledger.db").read_bytes() == before


def test_an_older_ledger_is_brought_up_to_date_after_a_copy(tmp_path: Path) -> None:
    write_one(tmp_path)
    path = tmp_path / "ledger.db"
    newer = (*STEPS, ("ALTER TABLE ranges ADD COLUMN colour TEXT",), ("CREATE TABLE of_tomorrow(x)",))
    with closing(open_file(path, newer)) as connection:
        assert connection.execute("SELECT key, colour FROM ranges").fetchall() == [("k1", None)]
        assert connection.execute("PRAGMA user_version").fetchone() == (len(STEPS) + 2,)
    copy = tmp_path / f"ledger.db.before-{len(newer)}"
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT key FROM ranges").fetchall() == [("k1",)]
        assert connection.execute("PRAGMA user_version").fetchone() == (len(STEPS),)
    assert {path.name for path in tmp_path.iterdir()} == {"ledger.db", copy.name}


def test_of_many_that_make_or_migrate_it_at_once_one_does(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    newer = (*STEPS, ("CREATE TABLE of_tomorrow(x)",))
    with ThreadPoolExecutor(8) as pool:
        for steps in (STEPS, newer):

            def version(_: int, steps: tuple[Step, ...] = steps) -> int:
                with closing(open_file(path, steps)) as connection:
                    return int(connection.execute("PRAGMA user_version").fetchone()[0])

            assert set(pool.map(version, range(16))) == {len(steps)}
    assert {each.name for each in tmp_path.iterdir()} == {"ledger.db", f"ledger.db.before-{len(newer)}"}


def test_a_step_that_fails_leaves_the_older_ledger_usable(tmp_path: Path) -> None:
    write_one(tmp_path)
    path = tmp_path / "ledger.db"
    with pytest.raises(LedgerError):
        open_file(path, (*STEPS, ("CREATE TABLE of_tomorrow(x)", "SELECT * FROM nowhere")))
    with Ledger.open(tmp_path) as ledger:
        assert set(ledger.ranges.states("pi", "s1")) == {"k1"}


def test_an_older_ledger_is_not_changed_by_who_only_reads(tmp_path: Path) -> None:
    before = write_one(tmp_path)
    with pytest.raises(
        LedgerError, match="earlier extractord: start the daemon or `extractord extract` once"
    ):
        open_to_read(tmp_path / "ledger.db", (*STEPS, ("CREATE TABLE of_tomorrow(x)",)))
    assert (tmp_path / "ledger.db").read_bytes() == before


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize(
    "content",
    [b"", b"garbage" * 1000, b"SQLite format 3\x00" + b"\x00" * 4096],
    ids=["empty", "garbage", "header only"],
)
def test_a_damaged_ledger_is_named_and_never_overwritten(
    tmp_path: Path, content: bytes, *, readonly: bool
) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    with pytest.raises(DamagedLedgerError, match=r"ledger\.db"):
        Ledger.open(tmp_path, readonly=readonly)
    assert path.read_bytes() == content


def test_damage_inside_is_told_when_it_is_met(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger, ledger.transaction():
        for number in range(2000):
            ledger.ranges.close("pi", "s1", [f"key {number}"], "no_prose", NOW)
    path = tmp_path / "ledger.db"
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = os.urandom(len(content) - 4096 * 2)
    path.write_bytes(content)
    with pytest.raises(DamagedLedgerError, match=r"ledger\.db is damaged"), Ledger.open(tmp_path) as ledger:
        ledger.ranges.states("pi", "s1")
    assert path.read_bytes() == bytes(content)


def test_another_database_is_not_taken_for_a_ledger(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as other:
        other.execute("CREATE TABLE songs(name)")
        other.commit()
    with pytest.raises(DamagedLedgerError, match="but not a ledger"):
        Ledger.open(tmp_path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write_one(tmp_path / "real")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "ledger.db").symlink_to(tmp_path / "real" / "ledger.db")
    with pytest.raises(LedgerError, match="not a file of this user"):
        Ledger.open(tmp_path / "state")


def test_reading_where_there_is_no_ledger_finds_nothing_and_makes_nothing(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "state", readonly=True) as ledger:
        assert (ledger.runs.recent(1), ledger.runs.spent(NOW)) == ((), Spent())
    assert not (tmp_path / "state").exists()


def test_a_reader_sees_what_a_living_writer_committed_and_can_change_nothing(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as writer, Ledger.open(tmp_path, readonly=True) as reader:
        writer.ranges.close("pi", "s1", ["k1"], "no_prose", NOW)
        assert set(reader.ranges.states("pi", "s1")) == {"k1"}
        with pytest.raises(LedgerError, match="readonly"):
            reader.ranges.close("pi", "s1", ["k2"], "no_prose", NOW)
        writer.ranges.close("pi", "s1", ["k2"], "no_prose", NOW)


def test_a_reader_needs_no_writer(tmp_path: Path) -> None:
    before = write_one(tmp_path)
    with Ledger.open(tmp_path, readonly=True) as reader:
        assert set(reader.ranges.states("pi", "s1")) == {"k1"}
    assert (tmp_path / "ledger.db").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_reader_needs_no_right_to_write(tmp_path: Path) -> None:
    write_one(tmp_path)
    tmp_path.chmod(0o500)
    try:
        with Ledger.open(tmp_path, readonly=True) as reader:
            assert set(reader.ranges.states("pi", "s1")) == {"k1"}
        with pytest.raises(LedgerError), Ledger.open(tmp_path) as writer:
            writer.ranges.close("pi", "s1", ["k2"], "no_prose", NOW)
    finally:
        tmp_path.chmod(0o700)


def test_a_fault_of_our_own_is_not_called_a_fault_of_the_ledger(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger, pytest.raises(sqlite3.IntegrityError):
        ledger.ranges.close("pi", None, ["k1"], "no_prose", NOW)  # type: ignore[arg-type]


def test_a_journal_that_was_left_without_its_ledger_is_not_taken_for_the_new_ones(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path)
    ledger.ranges.close("pi", "s1", ["k1"], "no_prose", NOW)
    journal = (tmp_path / "ledger.db-wal").read_bytes()
    ledger.close()
    (tmp_path / "ledger.db").unlink()
    (tmp_path / "ledger.db-wal").write_bytes(journal)  # as a kill leaves it
    with Ledger.open(tmp_path) as anew:
        assert anew.ranges.states("pi", "s1") == {}
        anew.check()
    (kept,) = tmp_path.glob("ledger.db.lost-*-wal")
    assert kept.read_bytes() == journal


def test_where_new_begins_is_on_the_disk_even_where_nothing_else_waits_for_it(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.hurry()
        done: list[str] = []
        ledger._connection.set_trace_callback(done.append)
        ledger.ranges.note_root("pi", "/home/me/.pi")
        ledger._connection.set_trace_callback(None)
        assert [each.split("(")[0] for each in done if "synchronous" in each or "INTO" in each] == [
            "PRAGMA synchronous",
            "PRAGMA synchronous = FULL",
            "INSERT OR IGNORE INTO roots VALUES ",
            "PRAGMA synchronous = 1",
        ]
