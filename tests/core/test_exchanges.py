from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from extractord.core.exchanges import Session
from extractord.core.merging import merged
from extractord.core.records import Entry, Exchange, Origin, Role, ToolCall, Voided

WRITES = (ToolCall(id="c", name="write", paths=("/m/a.md",), writes=True, ok=True),)


def prompt(entry_id: str, **fields: Any) -> Entry:
    return Entry(
        **{"id": entry_id, "agent": "pi", "session": "s", "role": Role.USER, "origin": Origin.HUMAN, **fields}
    )


def reply(entry_id: str, **fields: Any) -> Entry:
    return prompt(entry_id, **{"role": Role.ASSISTANT, "origin": Origin.SYNTHETIC, **fields})


def shape(*parts: Session) -> list[str]:
    """`key: entries`, a dot at its end where the exchange has ended."""
    return [line(each) for each in merged(parts)]


def line(each: Exchange) -> str:
    return f"{each.key}: {' '.join(entry.id for entry in each.entries)}{'.' if each.ended else ''}"


def folded(*seen: Entry | Voided, closed: tuple[str, ...] = ()) -> Session:
    session = Session("pi", "s", closed)
    for each in seen:
        session.apply(each)
    return session


def test_an_exchange_ends_with_the_turn_the_next_prompt_or_quiet() -> None:
    session = folded(prompt("1"), reply("2", turn_end=True), prompt("3"), reply("4"), prompt("5"))
    assert shape(session) == ["1: 1 2.", "3: 3 4.", "5: 5"]
    assert session.under_way
    session.quiet()
    assert shape(session)[-1] == "5: 5."
    assert not session.under_way


def test_headless_prompts_open_and_copied_recalled_or_sub_agents_words_never_do() -> None:
    session = folded(
        prompt("1", origin=Origin.COPIED),
        prompt("2", origin=Origin.RECALLED),
        prompt("3", origin=Origin.SUBAGENT),
        prompt("4", origin=Origin.HEADLESS),
        prompt("5", origin=Origin.COPIED),
        prompt("6", origin=Origin.RECALLED),
        prompt("7", origin=Origin.SUBAGENT),
    )
    assert shape(session) == ["4: 4 6 7"]


def test_an_exchange_takes_directory_and_branch_from_the_first_entry_that_has_them() -> None:
    session = folded(prompt("1"), reply("2", cwd="/a", branch="main"), reply("3", cwd="/b", branch="x"))
    (found,) = session.exchanges()
    assert (found.cwd, found.branch) == ("/a", "main")


def test_a_revision_replaces_in_place_and_an_older_one_does_not() -> None:
    session = folded(prompt("1"), reply("2", text="a"), reply("3"), reply("2", text="b", revision=2))
    session.apply(reply("2", text="c", revision=1))
    assert [entry.text for entry in session.exchanges()[0].entries] == ["", "b", ""]
    session.apply(reply("3", revision=1, turn_end=True))
    assert shape(session) == ["1: 1 2 3."]


def test_the_same_entry_of_two_files_is_folded_once() -> None:
    session = Session("pi", "s")
    for place in ("a", "b"):
        for entry in (prompt("1"), reply("2", turn_end=True)):
            session.apply(entry, place)
    assert shape(session) == ["1: 1 2."]


def test_what_follows_the_end_belongs_to_the_exchange_while_it_is_not_closed() -> None:
    session = folded(prompt("1"), reply("2", turn_end=True), reply("3"))
    assert shape(session) == ["1: 1 2 3."]
    session.forget(["1"])
    session.apply(reply("4"))
    assert shape(session) == []
    session.apply(reply("5", calls=WRITES))
    session.apply(reply("6"))
    assert shape(session) == ["5: 5 6."]


def test_closed_exchanges_are_not_kept_when_they_are_read_again() -> None:
    seen = (prompt("1"), reply("2", calls=WRITES), reply("3", turn_end=True), prompt("4"))
    assert shape(folded(*seen, closed=("1",))) == ["4: 4"]


def test_revisions_of_what_is_closed_bring_nothing_back() -> None:
    session = folded(prompt("1"), reply("2"), prompt("3"))
    session.forget(["1"])
    session.apply(prompt("1", revision=1))
    session.apply(reply("2", revision=1))
    assert shape(session) == ["3: 3"]


def test_a_rewind_voids_what_came_and_what_is_still_to_come() -> None:
    session = folded(prompt("1"), reply("2", turn_end=True), prompt("3"), reply("4"))
    session.apply(Voided(session="s", ids=("3", "4", "5")))
    session.apply(reply("5"))
    session.apply(prompt("6"))
    assert shape(session) == ["1: 1 2.", "6: 6"]
    session.apply(reply("2", revision=1, active=False))
    assert shape(session) == ["1: 1.", "6: 6"]


def test_a_rewind_by_ordinal_reaches_the_files_before_its_own_only() -> None:
    session = Session("pi", "s")
    for ordinal in range(1, 5):
        session.apply(prompt(f"a{ordinal}", ordinal=ordinal), "a")
    session.apply(Voided(session="s", from_ordinal=3), "b")
    session.apply(prompt("b3", ordinal=3), "b")
    session.apply(prompt("a5", ordinal=5), "a")
    session.apply(prompt("c4", ordinal=4), "c")
    assert shape(session) == ["a1: a1.", "a2: a2.", "b3: b3.", "c4: c4"]


def test_a_prompt_that_turns_out_to_be_none_gives_its_entries_to_the_exchange_before() -> None:
    session = folded(prompt("1"), prompt("2"), reply("3"), prompt("2", revision=1, origin=Origin.RECALLED))
    assert shape(session) == ["1: 1 2 3."]


def test_an_entry_that_turns_out_to_be_a_prompt_opens_an_exchange() -> None:
    session = folded(prompt("1"), reply("2"), reply("3"), prompt("2", revision=1))
    assert shape(session) == ["1: 1.", "2: 2 3"]


def test_baseline_is_dropped_by_its_file_with_what_follows_from_it() -> None:
    session = Session("pi", "s")
    session.apply(prompt("1"), "a")
    session.apply(prompt("2"), "b")
    session.was_before("b")
    session.apply(reply("3", calls=WRITES, turn_end=True), "b")
    session.apply(reply("4", calls=WRITES), "b")
    assert shape(session) == ["1: 1."]


def test_late_writes_go_by_their_time_to_the_exchange_in_which_they_were_done() -> None:
    times = [datetime(2026, 11, 30, hour, tzinfo=UTC) for hour in range(4)]
    main = folded(prompt("1", time=times[1]), reply("2", turn_end=True), prompt("3", time=times[3]))
    aside = folded(
        reply("x", calls=WRITES, time=times[0], origin=Origin.SUBAGENT),
        reply("y", calls=WRITES, time=times[2], origin=Origin.SUBAGENT),
        reply("z", calls=WRITES),
    )
    assert shape(main, aside) == ["1: 1 2 y.", "3: 3", "x: x z."]
    assert shape(aside) == ["x: x y z."]


def test_a_session_folded_twice_has_each_exchange_once_the_fuller_one() -> None:
    short = folded(prompt("1"), prompt("2"))
    full = folded(prompt("1"), reply("r"), prompt("2"), reply("e", turn_end=True))
    assert shape(short, full) == shape(full, short) == ["1: 1 r.", "2: 2 e."]


def test_what_a_rewind_abandoned_in_one_file_is_abandoned_in_a_copy_of_it_too() -> None:
    copy = folded(prompt("1"), prompt("2"))
    rewound = folded(prompt("1"), prompt("2"), Voided(session="s", ids=("2",)), prompt("3"))
    assert shape(copy, rewound) == ["1: 1.", "3: 3"]


def test_late_writes_that_all_find_their_exchange_are_none_of_their_own() -> None:
    time = datetime(2026, 11, 30, tzinfo=UTC)
    assert shape(folded(prompt("1", time=time)), folded(reply("x", calls=WRITES, time=time))) == ["1: 1 x"]


def test_a_revision_of_an_older_exchange_leaves_the_newest_under_way() -> None:
    session = folded(prompt("1"), reply("2"), prompt("3"), reply("2", revision=1, turn_end=True))
    assert shape(session) == ["1: 1 2.", "3: 3"]
    assert session.under_way
