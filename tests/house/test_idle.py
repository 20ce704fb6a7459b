"""What a daemon holds that has nothing to do: no library that only another way of running it needs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from broking import HAS_BROKER, Mosquitto
from person import Person
from supervising import supervised

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")

BUS = {"aiomqtt", "paho", "tenacity"}
ELSEWHERE = {
    "aiohttp",
    "bashlex",
    "detect_secrets",
    "jinja2",
    "litellm",
    "mcp",
    "pygal",
    "rich",
    "tomlkit",
}


def imported(person: Person, **more: str) -> set[str]:
    """The libraries that a daemon has loaded by the time it watches, and its broker, if any, is there."""
    command = [sys.executable, "-X", "importtime", "-m", "extractord", "run"]
    last = "the broker is there" if more else "watching"
    with supervised(command, person.environ(**more), person.home) as service:
        service.wait_for(lambda: last in service.log.read_text())
        assert service.stop(20) == (0, False)
        lines = service.log.read_text().splitlines()
    names = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    assert "extractord.daemon" in names
    return {name.partition(".")[0] for name in names}


def test_without_a_broker_nothing_is_loaded_that_speaks_to_one(tmp_path: Path) -> None:
    assert imported(Person(tmp_path)) & (BUS | ELSEWHERE) == set()


@pytest.mark.broker
@pytest.mark.skipif(not HAS_BROKER, reason="mosquitto and mosquitto-clients are not installed")
def test_with_a_broker_just_that_is(tmp_path: Path) -> None:
    with Mosquitto(tmp_path / "broker") as broker:
        assert imported(Person(tmp_path / "me"), **broker.settings()) & (BUS | ELSEWHERE) == BUS
