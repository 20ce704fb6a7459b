"""A fleet of real processes over a real broker: a workstation's words become memories on another machine."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from broking import HAS_BROKER, PASSWORD, Mosquitto
from living import FACTS, TUESDAY, Session, append

EXTRACTORD = [sys.executable, "-m", "extractord"]
SECRET = "AKIA" + "QWERTYUIOPASDFGH"
FORWARDER = """topic write extractord/v1/fleet/windows/+/%u
topic read extractord/v1/fleet/receipts/%u
"""
EXTRACTOR = """topic read extractord/v1/fleet/windows/+/+
topic write extractord/v1/fleet/receipts/+
topic readwrite extractord/v1/fleet/extractors/+
topic write extractord/v1/fleet/memories/#
topic write extractord/v1/fleet/roots/#
"""
MIRROR = "topic read extractord/v1/fleet/memories/%u/#\ntopic read extractord/v1/fleet/roots/%u/#\n"

pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not HAS_BROKER, reason="mosquitto and mosquitto-clients are not installed"),
]


class Machine:
    """A machine of the fleet, with a home of its own."""

    def __init__(self, home: Path, broker: Mosquitto, user: str, person: str = "ann@desk") -> None:
        self.home = home
        self.person = person
        self.transcripts = home / ".claude/projects/-home-dev-shop"
        self.transcripts.mkdir(parents=True)
        (home / "config.toml").touch()
        self.environ = {
            "HOME": str(home),
            "EXTRACTORD_CONFIG": str(home / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(home / "data"),
            "EXTRACTORD_STATE_DIR": str(home / "state"),
            "EXTRACTORD_FLEET__PERSON": person,
            "EXTRACTORD_FLEET__AGAIN_S": "1",
            "EXTRACTORD_RUN__RESCAN_S": "1",
            **broker.settings(user),
            "EXTRACTORD_MQTT__NAME": home.name,
        }

    @property
    def of_person(self) -> dict[str, str]:
        """The environment in which a command works on one person's memory on an extractor."""
        return {
            **self.environ,
            "EXTRACTORD_STATE_DIR": str(self.home / "state/persons" / self.person),
            "EXTRACTORD_MEMORY__DIR": str(self.home / "data/memory/persons" / self.person),
        }

    @contextlib.contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        with (self.home / "log").open("a") as log:
            process = subprocess.Popen([*EXTRACTORD, "run", *arguments], env=self.environ, stderr=log)
            try:
                self.wait_for(lambda: "broker is there" in self.log())
                yield process
            finally:
                if process.poll() is None:
                    process.terminate()
                process.wait(60)

    def log(self) -> str:
        return (self.home / "log").read_text()

    def said(self, text: str, name: str = "0a0b0c0d-0000-4000-8000-000000000001") -> None:
        append(self.transcripts / f"{name}.jsonl", Session(name).exchange(text))

    def memories(self, below: str = "data/memory") -> dict[str, str]:
        found = (self.home / below).rglob("*.md")
        return {path.name: path.read_text() for path in found if path.name != "MEMORY.md"}

    def wait_for(self, claim: Callable[[], object], seconds: float = 60) -> None:
        began = time.monotonic()
        while not claim():
            assert time.monotonic() - began < seconds, self.log()
            time.sleep(0.05)


def held(broker: Mosquitto, topic: str) -> list[str]:
    """The topics on which the broker retains something."""
    with broker.heard(topic, user="root") as heard:
        time.sleep(1)
        return [there for there, payload, _ in heard.messages() if payload]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    rights = {"ann@desk": FORWARDER.replace("%u", "ann@desk") + MIRROR.replace("%u", "ann@desk")}
    users = {**rights, "extractor": EXTRACTOR, "root": "topic readwrite #"}
    with Mosquitto(tmp_path / "broker", users=users) as broker:
        yield broker


def test_what_is_said_on_a_workstation_is_mirrored_there_and_forgotten_everywhere(
    broker: Mosquitto, tmp_path: Path
) -> None:
    desk, far = Machine(tmp_path / "desk", broker, "ann@desk"), Machine(tmp_path / "far", broker, "extractor")
    with (
        far.running("--role", "extractor", "--partitions", "0-15") as extractor,
        desk.running("--role", "forwarder", "--role", "mirror"),
    ):
        desk.wait_for(lambda: "watching" in desk.log())
        desk.said(f"{TUESDAY} The key is {SECRET}, keep it to yourself")
        desk.wait_for(desk.memories)
        name, text = next(iter(desk.memories().items()))
        assert "trust: stated" in text, "whose words they are survives the wire"
        assert "source: claude-code 0a0b0c0d" in text
        assert far.memories() == {name: text}
        assert SECRET.encode() not in b"".join(
            place.read_bytes() for place in (far.home / "state").rglob("*") if place.is_file()
        )
        listed = subprocess.run(
            [*EXTRACTORD, "memories", "list"], env=far.of_person, capture_output=True, text=True, check=True
        )
        assert "deploy" in listed.stdout
        extractor.send_signal(signal.SIGKILL)
        extractor.wait()
        desk.said(FACTS[1], "1a0b0c0d-0000-4000-8000-000000000001")
        desk.wait_for(lambda: "outcome=forwarded" in desk.log())
        with far.running("--role", "extractor", "--partitions", "0-15"):
            desk.wait_for(lambda: len(desk.memories()) == 2)
            assert len(held(broker, "extractord/v1/fleet/memories/#")) == 2
            path = next((far.home / "data/memory").rglob(name))
            root = path.parent.relative_to(far.home / "data/memory/persons/ann@desk")
            forgot = subprocess.run(
                [*EXTRACTORD, "memories", "forget", f"{root}/{name}"],
                env=far.of_person,
                capture_output=True,
                text=True,
                check=False,
            )
            assert forgot.returncode == 0, forgot.stderr
            desk.wait_for(lambda: list(desk.memories()) != [] and name not in desk.memories())
            assert len(held(broker, "extractord/v1/fleet/memories/#")) == 1
    ledger = b"".join(place.read_bytes() for place in (desk.home / "state").glob("ledger.db*"))
    assert b"warehouse counts" not in ledger
    assert PASSWORD not in desk.log() + far.log()
