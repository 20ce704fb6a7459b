"""Two extractors that were given one partition: the later refuses to start, and says what to do."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from broking import HAS_BROKER, Mosquitto
from living import EXTRACTORD, TUESDAY, Place
from machines import machine

from extractord.core.fleet import partition_of

pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not HAS_BROKER, reason="mosquitto and mosquitto-clients are not installed"),
]
ANN = partition_of("ann@desk", 16)
HERS, OTHERS = f"{ANN}", ",".join(str(each) for each in range(16) if each != ANN)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path / "broker", more=["persistence true"]) as broker:
        yield broker


def tried(extractor: Place, partitions: str) -> tuple[int, str]:
    """An extractor that is expected to end by itself: its exit code, and its last line."""
    command = [*EXTRACTORD, "run", "--role", "extractor", "--partitions", partitions]
    ran = subprocess.run(
        command, env=extractor.environ, capture_output=True, text=True, check=False, timeout=180
    )
    return ran.returncode, ran.stderr.splitlines()[-1]


def test_the_second_on_a_partition_ends_with_what_to_do_and_the_first_goes_on(
    broker: Mosquitto, tmp_path: Path
) -> None:
    desk = machine(tmp_path / "desk", broker, "")
    one, two = machine(tmp_path / "one", broker, ""), machine(tmp_path / "two", broker, "")
    with one.running("--role", "extractor", "--partitions", "0-15"):
        code, said = tried(two, HERS)
        assert code == 78
        assert f"--partitions: {HERS} of these is the extractor one's" in said
        assert "give each partition to one extractor" in said
        assert "mosquitto_pub -r -n -t extractord/v1/fleet/claims/" in said
        one.wait_for(lambda: "the extractor two was given partitions of these too" in one.log())
        with desk.running("--role", "forwarder"):
            desk.wait_for(lambda: "watching" in desk.log())
            desk.said(TUESDAY)
            one.wait_for(one.memories)
    assert two.texts() == {}


def test_extractors_with_partitions_of_their_own_live_beside_one_another(
    broker: Mosquitto, tmp_path: Path
) -> None:
    one, two = machine(tmp_path / "one", broker, ""), machine(tmp_path / "two", broker, "")
    with (
        one.running("--role", "extractor", "--partitions", HERS) as first,
        two.running("--role", "extractor", "--partitions", OTHERS) as second,
    ):
        time.sleep(1)
        assert (first.poll(), second.poll()) == (None, None)
    assert "gives way" not in one.log() + two.log()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_a_partition_is_free_when_its_extractor_is_gone(
    broker: Mosquitto, tmp_path: Path, number: signal.Signals
) -> None:
    one, two = machine(tmp_path / "one", broker, ""), machine(tmp_path / "two", broker, "")
    with one.running("--role", "extractor", "--partitions", HERS) as first:
        first.send_signal(number)
        first.wait(120)
    with two.running("--role", "extractor", "--partitions", HERS) as second:
        assert second.poll() is None


def test_an_extractor_that_lost_the_broker_for_a_while_keeps_what_it_had_first(
    broker: Mosquitto, tmp_path: Path
) -> None:
    one, two = machine(tmp_path / "one", broker, ""), machine(tmp_path / "two", broker, "")
    with one.running("--role", "extractor", "--partitions", HERS) as first:
        broker.stop(signal.SIGKILL)  # it kept nothing: the claim has to be made anew
        time.sleep(0.5)
        broker.start()
        code, said = tried(two, HERS)
        assert (code, f"{HERS} of these is the extractor one's" in said) == (78, True)
        assert first.poll() is None


def test_of_two_that_start_in_the_same_moment_just_one_stays(broker: Mosquitto, tmp_path: Path) -> None:
    machines = [machine(tmp_path / name, broker, "") for name in ("one", "two")]
    command = [*EXTRACTORD, "run", "--role", "extractor", "--partitions", HERS]
    processes = []
    for each in machines:
        with (each.home / "log").open("w") as log:
            processes.append(subprocess.Popen(command, env=each.environ, stderr=log))
    try:
        machines[0].wait_for(lambda: [each.poll() for each in processes].count(78) == 1)
        time.sleep(2)
        assert sorted(str(each.poll()) for each in processes) == ["78", "None"]
    finally:
        for process in processes:
            process.terminate()
            process.wait(120)
