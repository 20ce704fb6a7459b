"""A part of a fleet under a supervisor: ready, watched over, asked to reread, ended."""

import signal
import sys
from pathlib import Path

import pytest
from broking import HAS_BROKER, Mosquitto
from person import EXTRACTORD, Person
from supervising import supervised

pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's"),
    pytest.mark.skipif(not HAS_BROKER, reason="mosquitto and mosquitto-clients are not installed"),
]


@pytest.mark.parametrize(
    ("role", "answer"),
    [
        (("forwarder",), "configuration reread: mode changed"),
        (("extractor", "--partitions", "0-15"), "configuration reread: mode changed"),
        (("mirror",), "configuration reread: mode needs a restart"),
    ],
    ids=["forwarder", "extractor", "mirror"],
)
def test_each_part_is_ready_beats_answers_sighup_and_says_that_it_ends(
    tmp_path: Path, role: tuple[str, ...], answer: str
) -> None:
    person = Person(tmp_path / "me")
    with Mosquitto(tmp_path / "broker") as broker:
        environ = person.environ(EXTRACTORD_FLEET__PERSON="ann@desk", **broker.settings())
        with supervised([*EXTRACTORD, "run", "--role", *role], environ, person.home, 4.0) as part:
            part.wait_for(lambda: part.said("READY"), 40)
            part.wait_for(lambda: len(part.said("WATCHDOG")) >= 3)
            (person.home / "config.toml").write_text('mode = "ask"\n')
            part.process.send_signal(signal.SIGHUP)
            part.wait_for(lambda: len(part.said("READY")) == 2)
            assert len(part.said("RELOADING")) == 1
            assert answer in part.log.read_text()
            (person.home / "config.toml").write_text('mode = "asc"\n')
            part.process.send_signal(signal.SIGHUP)
            part.wait_for(lambda: len(part.said("READY")) == 3)
            assert "the one in force stays" in part.log.read_text()
            assert part.stop(40) == (0, False), part.log.read_text()
    assert part.said("STOPPING") == ["1"]
    assert [word for _, word in part.words if not word.startswith("WATCHDOG")][-1].startswith("STOPPING=1")
