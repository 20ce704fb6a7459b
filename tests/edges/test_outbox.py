"""Events wait in the ledger, over restarts; past the bound the oldest go, and are counted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from extractord.edges.ledger import Ledger

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_the_oldest_go_where_there_is_no_room_and_a_restart_keeps_the_rest(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        for number in range(7):
            ledger.outbox.put("t", str(number).encode(), NOW, bound=5)
    with Ledger.open(tmp_path) as ledger:
        outbox = ledger.outbox
        assert [each.payload for each in outbox.oldest(3)] == [b"2", b"3", b"4"]
        assert (outbox.waiting(), outbox.dropped()) == (5, 2)
        outbox.said(each.id for each in outbox.oldest(3))
        assert [each.payload for each in outbox.oldest(9)] == [b"5", b"6"]
        assert (outbox.waiting(), outbox.dropped()) == (2, 2)
