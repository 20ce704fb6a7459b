"""The short form of `tests/fleeting.py`: six workstations; two extractors and the broker killed in turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from broking import HAS_BROKER, HAS_CERTIFICATES, Mosquitto
from fleeting import FACTS, forgetful, under_fire

pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not HAS_BROKER, reason="mosquitto and mosquitto-clients are not installed"),
]


async def test_kills_cost_no_window_double_no_memory_and_change_no_projects_order(tmp_path: Path) -> None:
    came = await under_fire(tmp_path, desks=6, extractors=2, facts=FACTS[:4], rest_s=1.5, every_s=3.0)
    assert [name for _, name in came.kills] == ["extractor 0", "broker", "extractor 1"]
    assert (came.lost, came.doubled, came.disordered) == ([], [], [])
    assert (came.memories, came.retained) == (24, 24)


async def test_a_broker_that_forgets_all_it_acknowledged_costs_time_and_nothing_else(tmp_path: Path) -> None:
    """Without persistence a kill takes windows, sessions and every retained memory."""
    came = await under_fire(
        tmp_path, desks=6, extractors=2, facts=FACTS[:4], rest_s=1.5, every_s=3.0, brokers=forgetful
    )
    assert (came.lost, came.doubled, came.disordered) == ([], [], [])
    assert (came.memories, came.retained) == (24, 24)


@pytest.mark.skipif(not HAS_CERTIFICATES, reason="openssl is not installed")
async def test_nor_do_they_with_the_broker_of_the_page_over_tls_and_with_its_rights(tmp_path: Path) -> None:
    came = await under_fire(
        tmp_path,
        desks=6,
        extractors=2,
        facts=FACTS[:4],
        rest_s=1.5,
        every_s=3.0,
        brokers=Mosquitto.documented,
    )
    assert (came.lost, came.doubled, came.disordered) == ([], [], [])
    assert (came.memories, came.retained) == (24, 24)
