from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonl_agent
import pytest
import zstandard
from doubles import MemoryRanges
from jsonl_agent import AGENT, exchange, line

from extractord.core.events import Oversized, Skipped
from extractord.core.gate import GateSettings
from extractord.core.ports import Owner
from extractord.core.records import Project, Window
from extractord.errors import TranscriptError
from extractord.reading import Reading

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWNER = Owner(pid=1, started=1, boot="b")


class House:
    """A folder of transcripts, a ledger in memory, and a reading that can be restarted."""

    def __init__(self, root: Path, *, writes_turn_end: bool = True, headless: bool = False) -> None:
        self.root = root
        self.ranges = MemoryRanges()
        self.source = jsonl_agent.source(str(root), writes_turn_end=writes_turn_end)
        self.headless = frozenset({AGENT} if headless else ())
        self.restart()

    def restart(self) -> None:
        settings = GateSettings(
            home="/home/dev", memory_roots=("/home/dev/memory",), excluded=("/home/dev/secret",)
        )
        self.reading = Reading(
            self.ranges,
            lambda _agent, _session, cwd: Project(
                slug=Path(cwd).name, identity=cwd, directory=cwd, is_project=cwd != "/home/dev"
            ),
            settings,
            settle_s=20,
            copy_dir=str(self.root),
            headless=self.headless,
        )

    async def begin(self) -> int | None:
        return await self.reading.begin(self.source, str(self.root))

    async def touched(self, name: str, now: datetime = NOW) -> list[object]:
        return shown(await self.reading.touched(self.source, str(self.root / name), now))

    def append(self, name: str, text: bytes) -> None:
        with (self.root / name).open("ab") as file:
            file.write(text)

    def close(self, *keys: str, session: str = "s") -> None:
        assert self.ranges.claim(AGENT, session, keys, "run", OWNER, NOW)
        self.ranges.finish("run", "saved", NOW)


def shown(come: Iterable[Window | Skipped | Oversized]) -> list[object]:
    """Keys by window; (key, reason) of what was skipped."""
    return [
        [each.key for each in one.exchanges] if isinstance(one, Window) else (one.exchange, one.reason)
        for one in come
        if not isinstance(one, Oversized)
    ]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_an_exchange_that_ended_is_a_window_and_grows_by_the_next_until_it_is_closed(
    house: House,
) -> None:
    await house.begin()
    house.append("a.jsonl", line("1", "we deploy on tuesdays"))
    assert await house.touched("a.jsonl") == []
    house.append("a.jsonl", line("1-reply", turn_end=True))
    assert await house.touched("a.jsonl") == [["1"]]
    house.append("a.jsonl", exchange("2"))
    assert await house.touched("a.jsonl") == [["1", "2"]]
    house.close("1", "2")
    house.append("a.jsonl", exchange("3"))
    assert await house.touched("a.jsonl") == [["3"]]
    assert await house.touched("a.jsonl") == []


async def test_what_is_claimed_is_in_no_window_until_it_is_released(house: House) -> None:
    house.append("a.jsonl", exchange("1"))
    await house.touched("a.jsonl")
    house.ranges.claim(AGENT, "s", ["1"], "run", OWNER, NOW)
    house.append("a.jsonl", exchange("2"))
    assert await house.touched("a.jsonl") == [["2"]]
    house.ranges.release("run", attempted=True, retry_at=None)
    assert shown(await house.reading.again(AGENT, "s", NOW)) == [["1", "2"]]


async def test_nothing_that_was_there_before_the_first_start_is_read(house: House) -> None:
    house.append("a.jsonl", exchange("1") + line("2", "this one is under way"))
    (house.root / "b.json").write_bytes(b"[" + b",".join(exchange("b1", session="b").splitlines()) + b"]")
    assert await house.begin() == 2
    assert await house.begin() is None
    assert await house.touched("a.jsonl") == []
    house.append("a.jsonl", line("2-reply", turn_end=True) + exchange("3"))
    both = exchange("b1", session="b") + exchange("b2", session="b")
    (house.root / "b.json").write_bytes(b"[" + b",".join(both.splitlines()) + b"]")
    for _ in range(2):
        assert await house.touched("a.jsonl") == [["3"]]
        assert await house.touched("b.json") == [["b2"]]
        house.restart()


async def test_a_batch_takes_what_was_there_before(house: House) -> None:
    house.append("a.jsonl", exchange("1") + exchange("2")[:-1])
    await house.begin()
    come = [each async for each in house.reading.at_rest(house.source, [str(house.root / "a.jsonl")], NOW)]
    assert shown(tuple(each for each in come if not isinstance(each, TranscriptError))) == [["1", "2"]]


@pytest.mark.parametrize("how", ["moved", "compressed", "copied", "rewritten", "grown then moved"])
async def test_baseline_stays_baseline_however_its_file_moves(house: House, how: str) -> None:
    old, new = house.root / "a.jsonl", house.root / "b.jsonl"
    house.append("a.jsonl", exchange("1") + exchange("2"))
    await house.begin()
    if how == "grown then moved":
        house.append("a.jsonl", exchange("3"))
        assert await house.touched("a.jsonl") == [["3"]]
    match how:
        case "moved" | "grown then moved":
            old.rename(new)
        case "compressed":
            new = old.with_name("a.jsonl.zst")
            new.write_bytes(zstandard.compress(old.read_bytes()))
            old.unlink()
        case "copied":
            new.write_bytes(old.read_bytes())
        case "rewritten":
            new = old
            old.write_bytes(b"\n" * 100 + old.read_bytes())
    house.restart()
    assert await house.touched(new.name) == ([["3"]] if how == "grown then moved" else [])
    if how != "compressed":
        house.append(new.name, exchange("4"))
        assert await house.touched(new.name) == ([["3", "4"]] if how == "grown then moved" else [["4"]])


async def test_a_restart_at_any_byte_gives_each_exchange_in_a_window_once(house: House) -> None:
    await house.begin()
    whole = exchange("1", "first of all 以后用英文") + exchange("2") + exchange("3")
    got: list[str] = []
    for at in range(len(whole)):
        house.append("a.jsonl", whole[at : at + 1])
        for come in await house.touched("a.jsonl"):
            assert isinstance(come, list)
            house.close(*come)
            got += come
        house.restart()
    assert got == ["1", "2", "3"]


async def test_a_file_that_shrinks_regrows_or_is_replaced_is_read_anew_each_exchange_once(
    house: House,
) -> None:
    path = house.root / "a.jsonl"
    house.append("a.jsonl", exchange("1") + exchange("2"))
    assert await house.touched("a.jsonl") == [["1", "2"]]
    house.close("1")
    path.write_bytes(exchange("1"))
    assert await house.touched("a.jsonl") == [[]]
    path.write_bytes(exchange("1") + exchange("5") + exchange("6") + exchange("7"))
    assert await house.touched("a.jsonl") == [["5", "6", "7"]]
    house.close("5", "6", "7")
    other = house.root / "other"
    other.write_bytes(exchange("1") + exchange("5") + exchange("8"))
    other.replace(path)
    assert await house.touched("a.jsonl") == [["8"]]


async def test_a_rewind_takes_an_exchange_out_of_its_window(house: House) -> None:
    house.append("a.jsonl", exchange("1") + exchange("2"))
    assert await house.touched("a.jsonl") == [["1", "2"]]
    house.append("a.jsonl", b'{"session": "s", "ids": ["2", "2-reply"]}\n' + exchange("3"))
    assert await house.touched("a.jsonl") == [["1", "3"]]
    house.append("a_1.jsonl", b'{"session": "s", "from": 1, "from_ordinal": 5}\n' + exchange("4", ordinal=5))
    house.append("a.jsonl", exchange("9", ordinal=7))
    assert await house.touched("a_1.jsonl") == [["1", "3", "4"]]


async def test_a_family_of_files_is_one_session_in_the_order_of_their_names(house: House) -> None:
    house.append("a_2.jsonl", exchange("3"))
    house.append("a.jsonl", exchange("1"))
    house.append("a_1.jsonl", exchange("1") + exchange("2"))
    house.append("a_2.jsonl.deleted", exchange("4"))
    assert await house.touched("a_1.jsonl") == [["1", "2", "3"]]


async def test_the_same_prompt_in_another_session_is_seen_already(house: House) -> None:
    house.append("a.jsonl", exchange("1"))
    house.append("b.jsonl", exchange("1", session="fork") + exchange("2", session="fork"))
    assert await house.touched("a.jsonl") == [["1"]]
    assert await house.touched("b.jsonl") == [("1", "already_seen"), ["2"]]
    house.close("1")
    house.restart()
    assert await house.touched("b.jsonl") == [["2"]]


async def test_a_second_copy_of_what_still_waits_is_seen_already_too(house: House) -> None:
    house.append("a.jsonl", exchange("1", session="s"))
    assert await house.touched("a.jsonl") == [["1"]]
    for name in ("t", "u"):
        house.append(f"{name}.jsonl", exchange("1", session=name) + exchange(f"2{name}", session=name))
        assert await house.touched(f"{name}.jsonl") == [("1", "already_seen"), [f"2{name}"]]


async def test_skips_close_only_their_own_exchange(house: House) -> None:
    wrote = {"id": "c", "name": "write", "paths": ["/home/dev/memory/a.md"], "writes": True, "ok": True}
    house.append(
        "a.jsonl",
        exchange("1", "ok thanks")
        + exchange("2", cwd="/home/dev/secret/x")
        + line("3", "please write that down")
        + line("3-call", calls=[wrote])
        + line("3-reply", turn_end=True)
        + exchange("4"),
    )
    assert await house.touched("a.jsonl") == [
        ("1", "no_prose"),
        ("2", "excluded"),
        ("3", "direct_write"),
        ["4"],
    ]
    assert await house.touched("a.jsonl") == []


async def test_what_a_sub_agent_writes_in_a_file_beside_counts_for_the_exchange_of_its_time(
    house: House,
) -> None:
    wrote = {"id": "c", "name": "write", "paths": ["/home/dev/memory/a.md"], "writes": True, "ok": True}
    times = [(NOW + timedelta(minutes=minute)).isoformat() for minute in range(4)]
    house.append("a.jsonl", exchange("1", time=times[0]) + exchange("2", time=times[2]))
    house.append("x.jsonl", line("sub", calls=[wrote], time=times[1], origin="subagent"))
    assert await house.touched("x.jsonl") == [("sub", "direct_write")]
    assert await house.touched("a.jsonl") == [["1", "2"]]


async def test_a_session_that_changes_its_directory_has_a_window_in_each_project(house: House) -> None:
    house.append("a.jsonl", exchange("1", cwd="/w/one") + exchange("2", cwd="/w/two"))
    assert await house.touched("a.jsonl") == [["1"], ["2"]]


async def test_quiet_ends_an_exchange_at_once_where_no_end_is_written_and_late_where_the_agent_died(
    tmp_path: Path,
) -> None:
    start = datetime.now(UTC)
    for writes_turn_end, waits_s in ((False, 20), (True, 200)):
        house = House(tmp_path, writes_turn_end=writes_turn_end)
        house.append(f"q{waits_s}.jsonl", line("1", "we deploy on tuesdays"))
        assert await house.touched(f"q{waits_s}.jsonl", start) == []
        before, after = (start + timedelta(seconds=waits_s + more) for more in (-5, 5))
        assert await house.reading.quiet(before) == ()
        assert shown(await house.reading.quiet(after)) == [["1"]]
        assert await house.reading.quiet(after) == ()


async def test_an_agent_named_as_headless_prompts_headless(tmp_path: Path) -> None:
    house = House(tmp_path, headless=True)
    house.append("a.jsonl", exchange("1"))
    (window,) = await house.reading.touched(house.source, str(tmp_path / "a.jsonl"), NOW)
    assert isinstance(window, Window)
    assert window.exchanges[0].entries[0].origin.value == "headless"


async def test_what_holds_nothing_of_the_agent_is_an_error_and_what_is_gone_is_none(house: House) -> None:
    house.append("a.jsonl", b"\x7fELF\n\x00\x01\n")
    with pytest.raises(TranscriptError, match=r"a\.jsonl.*pi"):
        await house.touched("a.jsonl")
    assert await house.touched("gone.jsonl") == []
    house.append("a.jsonl", exchange("1"))
    assert await house.touched("a.jsonl") == [["1"]]


async def test_a_range_that_is_opened_again_comes_back(house: House) -> None:
    house.append("a.jsonl", exchange("1"))
    await house.touched("a.jsonl")
    house.close("1")
    assert shown(await house.reading.again(AGENT, "s", NOW)) == [[]]
    assert house.ranges.reopen("run") == 1
    assert shown(await house.reading.again(AGENT, "s", NOW)) == [["1"]]


async def test_a_window_is_emptied_once(house: House) -> None:
    house.append("a.jsonl", exchange("1"))
    assert await house.touched("a.jsonl") == [["1"]]
    house.close("1")
    assert shown(await house.reading.again(AGENT, "s", NOW)) == [[]]
    assert shown(await house.reading.again(AGENT, "s", NOW)) == []
    house.append("a.jsonl", exchange("2"))
    assert await house.touched("a.jsonl") == [["2"]]


async def test_what_a_daemon_that_only_recalls_left_is_offered_by_the_next_each_exchange_once(
    house: House,
) -> None:
    house.append("a.jsonl", exchange("0"))
    await house.begin()
    house.append("a.jsonl", exchange("1") + exchange("2"))
    assert await house.touched("a.jsonl") == [["1", "2"]]
    house.append("a.jsonl", exchange("3"))
    house.restart()
    assert await house.touched("a.jsonl") == [["1", "2", "3"]]
    house.close("1", "2", "3")
    house.restart()
    assert await house.touched("a.jsonl") == []


async def test_more_families_than_stay_warm_are_read_again_from_their_start(house: House) -> None:
    for n in range(70):
        house.append(f"{n}.jsonl", exchange(f"{n}", session=f"{n}"))
        assert await house.touched(f"{n}.jsonl") == [[f"{n}"]]
    house.append("0.jsonl", exchange("more", session="0"))
    assert await house.touched("0.jsonl") == [["0", "more"]]
