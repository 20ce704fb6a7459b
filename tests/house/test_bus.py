"""The daemon and a real broker: another make's client hears what docs/events.md says, and is not believed."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import jsonschema
import pytest
from broking import EVENTS_PAGE, HAS_BROKER, HAS_CERTIFICATES, PASSWORD, Mosquitto, Subscriber, blocks_of
from living import FACTS, TUESDAY, Place, Session, append

from extractord.edges.ledger import Ledger
from extractord.storeroom import now

STATUS = "extractord/v1/here/status"
FINISHED = "extractord/v1/here/said/run/finished"

pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not HAS_BROKER, reason="mosquitto and mosquitto-clients are not installed"),
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home")


@pytest.fixture
def broker(tmp_path: Path, place: Place) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path / "broker") as broker:
        place.environ |= broker.settings()
        yield broker


def schemas() -> dict[str, dict[str, object]]:
    """The schemas that docs/events.md has, by topic."""
    text = EVENTS_PAGE.read_text()
    found = re.findall(r"### `([^`]+)`\n(?:(?!###).)*?```json\n(.*?)```", text, re.DOTALL)
    return {topic.replace("<name>", "here"): json.loads(schema) for topic, schema in found}


def is_status(heard: Subscriber, state: str) -> bool:
    told = heard.on(STATUS)
    return bool(told) and json.loads(told[-1])["state"] == state


@pytest.mark.skipif(not HAS_CERTIFICATES, reason="openssl is not installed")
def test_over_tls_and_under_an_acl_mosquitto_sub_hears_what_the_schemas_say(
    tmp_path: Path, place: Place
) -> None:
    rights = "topic write extractord/v1/here/status\ntopic write extractord/v1/here/said/#\n"
    rights += "topic read extractord/v1/here/heard/+"
    users = {"here": rights, "watcher": "topic read #", "operator": "topic write extractord/v1/+/heard/+"}
    with Mosquitto(tmp_path / "broker", users=users, tls=True) as broker:
        place.environ |= broker.settings("here")
        with broker.heard("extractord/#", user="watcher") as heard:
            with place.running():
                place.said(TUESDAY)
                heard.wait_for(lambda: heard.on(FINISHED))
                broker.publish("extractord/v1/here/heard/pause", "", "operator")
                heard.wait_for(lambda: is_status(heard, "paused"))
                broker.publish("extractord/v1/here/heard/pause", "nonsense", "operator")
                heard.wait_for(lambda: heard.on("extractord/v1/here/said/heard/unheeded"))
            heard.wait_for(lambda: is_status(heard, "offline"))
            messages = heard.messages()
    known = schemas()
    for topic, payload, _ in messages:
        if "/heard/" not in topic.removeprefix("extractord/v1/here/said"):
            jsonschema.validate(json.loads(payload), known[topic])
    row = json.loads(heard.on(FINISHED)[0])["row"]
    assert (row["outcome"], row["agent"], len(row["written"])) == ("saved", "claude-code", 1)
    assert "Tuesdays because" not in json.dumps([payload.decode() for _, payload, _ in messages])
    heeded = json.loads(heard.on("extractord/v1/here/said/heard/heeded")[0])
    assert (heeded["word"], heeded["done"]) == ("pause", True)


def test_everything_that_the_page_names_is_said_at_its_time_and_as_its_schema_has_it(
    broker: Mosquitto, place: Place
) -> None:
    said = "extractord/v1/here/said"
    place.said(FACTS[0], "9a0b0c0d-0000-4000-8000-000000000001")
    with broker.heard(STATUS, f"{said}/#") as heard:
        with place.running():
            heard.wait_for(lambda: heard.on(f"{said}/source/found"))
            place.said(TUESDAY)
            heard.wait_for(lambda: heard.on(FINISHED))
            place.said("thanks", "1a0b0c0d-0000-4000-8000-000000000001")
            heard.wait_for(lambda: heard.on(f"{said}/skipped"))
            long = place.transcripts / "2a0b0c0d-0000-4000-8000-000000000001.jsonl"
            append(long, b'{"type":"' + b"x" * 17 * 1024 * 1024 + b'"}\n' + Session().exchange(FACTS[1]))
            heard.wait_for(lambda: heard.on(f"{said}/oversized"))
            for word, state in (("pause", "paused"), ("drain", "drained"), ("resume", "online")):
                broker.publish(f"extractord/v1/here/heard/{word}", "")
                heard.wait_for(partial(is_status, heard, state))
            broker.publish("extractord/v1/here/heard/extract", "no")
            heard.wait_for(lambda: heard.on(f"{said}/heard/unheeded"))
        heard.wait_for(lambda: is_status(heard, "offline"))
    known = {topic: schema for topic, schema in schemas().items() if topic.startswith((STATUS, said))}
    for topic, payload, _ in heard.messages():
        jsonschema.validate(json.loads(payload), known[topic])
    assert {topic for topic, _, _ in heard.messages()} == known.keys()
    over = json.loads(heard.on(f"{said}/oversized")[0])
    assert (over["lines"], over["path"]) == (1, str(long))
    states = [json.loads(payload)["state"] for payload in heard.on(STATUS)]
    assert [states[0], states[-1]] == ["online", "offline"]
    assert {"paused", "drained"} <= set(states)


@pytest.mark.skipif(not HAS_CERTIFICATES, reason="openssl is not installed")
def test_a_broker_with_another_certificate_is_not_spoken_to(tmp_path: Path, place: Place) -> None:
    with (
        Mosquitto(tmp_path / "other", tls=True) as other,
        Mosquitto(tmp_path / "broker", users={"here": "topic readwrite #"}, tls=True) as broker,
    ):
        place.environ |= {**broker.settings("here"), "EXTRACTORD_MQTT__CA_FILE": str(other.folder / "ca.pem")}
        with place.running():
            place.wait_for(lambda: "certificate" in place.log())
        assert "the broker is there" not in place.log()
        assert PASSWORD not in place.log()


def test_the_last_will_says_offline_after_a_kill(broker: Mosquitto, place: Place) -> None:
    with place.running() as daemon, broker.heard(STATUS) as heard:
        heard.wait_for(lambda: is_status(heard, "online"))
        daemon.kill()
        heard.wait_for(lambda: is_status(heard, "offline"))
    with broker.heard(STATUS) as later:
        later.wait_for(lambda: is_status(later, "offline"))
        assert [retained for _, _, retained in later.messages()] == [True]


def test_ten_thousand_malformed_messages_change_nothing(broker: Mosquitto, place: Place) -> None:
    with place.running(), broker.heard("extractord/v1/here/#") as heard:
        heard.wait_for(lambda: is_status(heard, "online"))
        before, began = place.command("status", "--json").stdout, time.monotonic()
        command = ["mosquitto_pub", *broker.client(), "-q", "1", "-l", "-t"]
        lines = [
            b'{"path": "/etc/passwd\x00"}',
            b'{"path": 7}',
            b"\xff\xfe",
            b"{" * 900,
            b"pause",
            b"x" * 5000,
        ]
        for word in ("extract", "pause", "resume", "drain", "shutdown"):
            topic = f"extractord/v1/here/heard/{word}"
            raw = b"\n".join(lines[number % len(lines)] for number in range(2000)) + b"\n"
            subprocess.run([*command, topic], input=raw, check=True, timeout=600)
        heard.wait_for(lambda: heard.on("extractord/v1/here/said/heard/unheeded"))
        assert place.command("status", "--json").stdout == before
        assert is_status(heard, "online")
        assert heard.on("extractord/v1/here/said/heard/heeded") == []
        minutes = (time.monotonic() - began) / 60
        assert place.log().count("heard/unheeded") <= 2 + minutes, "they do not flood the log"
        place.said(TUESDAY)
        heard.wait_for(lambda: heard.on(FINISHED))
        assert len(place.memories()) == 1


def test_an_extract_names_a_watched_agents_own_file_and_nothing_else(
    broker: Mosquitto, place: Place, tmp_path: Path
) -> None:
    name = "0a0b0c0d-0000-4000-8000-000000000002"
    place.said(TUESDAY, name)
    outside = tmp_path / "elsewhere" / f"{name}.jsonl"
    outside.parent.mkdir()
    append(outside, Session().exchange(FACTS[0]))
    link = place.transcripts / "0a0b0c0d-0000-4000-8000-000000000009.jsonl"
    link.symlink_to(outside)
    heeded = "extractord/v1/here/said/heard/heeded"
    with place.running(), broker.heard(STATUS, "extractord/v1/here/said/#") as heard:
        heard.wait_for(lambda: is_status(heard, "online"))
        for number, path in enumerate((outside, link, "../x.jsonl", place.transcripts, "/etc/passwd"), 1):
            broker.publish("extractord/v1/here/heard/extract", json.dumps({"path": str(path)}))
            heard.wait_for(lambda: len(heard.on(heeded)) == number)  # noqa: B023 - it is asked before the next
            assert json.loads(heard.on(heeded)[-1])["reason"] == "no transcript of an agent that is watched"
        assert place.memories() == []
        broker.publish(
            "extractord/v1/here/heard/extract", json.dumps({"agent": "claude-code", "session": name})
        )
        heard.wait_for(lambda: heard.on(FINISHED))
    assert json.loads(heard.on(heeded)[-1])["done"] is True
    assert len(place.memories()) == 1, "baseline too, where it is asked for"


def test_a_pause_lets_windows_wait_until_resume(broker: Mosquitto, place: Place) -> None:
    with place.running(), broker.heard("extractord/v1/here/#") as heard:
        heard.wait_for(lambda: is_status(heard, "online"))
        broker.publish("extractord/v1/here/heard/drain", "")
        heard.wait_for(lambda: is_status(heard, "drained"))
        place.said(TUESDAY)
        time.sleep(2.5)
        assert heard.on(FINISHED) == []
        broker.publish("extractord/v1/here/heard/resume", "")
        heard.wait_for(lambda: heard.on(FINISHED))
        assert is_status(heard, "online")


def test_a_retained_request_is_not_obeyed(broker: Mosquitto, place: Place) -> None:
    broker.publish("extractord/v1/here/heard/pause", "", retain=True)
    with place.running(), broker.heard("extractord/v1/here/#") as heard:
        heard.wait_for(lambda: is_status(heard, "online"))
        place.said(TUESDAY)
        heard.wait_for(lambda: heard.on(FINISHED))


def test_a_broker_that_is_away_costs_no_event_and_a_restart_none_either(tmp_path: Path, place: Place) -> None:
    """The broker's absence is over when the events of two daemons were put away: no clock in it."""
    names = [f"{number}a0b0c0d-0000-4000-8000-000000000001" for number in range(1, 5)]
    (lines,) = blocks_of(EVENTS_PAGE)
    with Mosquitto(tmp_path / "broker", more=lines.splitlines()) as broker:
        place.environ |= broker.settings()
        with broker.heard(FINISHED, session="watcher"):
            pass  # from here on the broker keeps what the watcher misses
        with place.running():
            place.wait_for(lambda: "the broker is there" in place.log())
            broker.stop(signal.SIGKILL)
            for name, fact in zip(names[:2], FACTS[:2], strict=True):
                place.said(fact, name)
            place.wait_for(lambda: len(place.runs()) == 2)
        assert json.loads(place.command("status", "--json").stdout)["bus"] == {"waiting": 2, "dropped": 0}
        with place.running():
            for name, fact in zip(names[2:], FACTS[2:], strict=True):
                place.said(fact, name)
            place.wait_for(lambda: len(place.runs()) == 4)
            broker.start()
            with broker.heard(FINISHED, session="watcher") as heard:
                heard.wait_for(lambda: len(heard.on(FINISHED)) >= 4, 180)
    said = [json.loads(payload)["row"]["session"] for payload in heard.on(FINISHED)]
    assert said == names


def test_past_the_bound_the_oldest_events_go_and_status_says_so(place: Place) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody answers there
        taken.bind(("127.0.0.1", 0))
        url = f"mqtt://127.0.0.1:{taken.getsockname()[1]}"
        place.environ |= {"EXTRACTORD_MQTT__URL": url, "EXTRACTORD_MQTT__OUTBOX": "1"}
        with place.running():
            for number, fact in enumerate(FACTS[:2]):
                place.said(fact, f"{number}a0b0c0d-0000-4000-8000-000000000001")
            place.wait_for(lambda: len(place.runs()) == 2)
            place.wait_for(lambda: "reconnecting" in place.log())
    found = place.command("status").stdout
    assert "1 event waits for the broker, 1 dropped" in found


def test_what_cannot_be_used_of_the_broker_is_said_at_once_with_what_to_do(place: Place) -> None:
    password = place.home / "password"
    password.write_text("x")
    password.chmod(0o644)
    place.environ |= {
        "EXTRACTORD_MQTT__URL": "mqtt://broker.example",
        "EXTRACTORD_MQTT__PASSWORD_FILE": str(password),
        "EXTRACTORD_MQTT__CERT_FILE": "/nowhere/client.pem",
    }
    parts = ("only mqtts://", "chmod 600", "/nowhere/client.pem", "go together", "needs `mqtt.user`")
    for ran in (place.command("run"), place.command("config", "check")):
        assert ran.returncode == 78
        assert len(ran.stderr.splitlines()) == 6, ran.stderr
        assert [part for part in parts if part not in ran.stderr] == []


def waiting(place: Place) -> int:
    """How many events the broker does not have yet."""
    return int(json.loads(place.command("status", "--json").stdout)["bus"]["waiting"])


def test_a_broker_as_the_page_sets_it_up_keeps_every_event_for_who_is_away(
    tmp_path: Path, place: Place
) -> None:
    (lines,) = blocks_of(EVENTS_PAGE)
    many = 1200  # mosquitto by itself keeps 1,000
    with Mosquitto(tmp_path / "broker", more=lines.splitlines()) as broker:
        place.environ |= broker.settings()
        with broker.heard(FINISHED, session="watcher"):
            pass
        with Ledger.open(place.home / "state") as ledger, ledger.transaction():
            for number in range(many):
                ledger.outbox.put(FINISHED, str(number).encode(), now(), many)
        with place.running():
            place.wait_for(lambda: waiting(place) == 0, 300)
            broker.publish("mark", "x")  # it has written what came before, once it takes this
            broker.stop(signal.SIGKILL)
            broker.start()
        with broker.heard(FINISHED, session="watcher") as heard:
            heard.wait_for(lambda: len(heard.on(FINISHED)) >= many, 120)
        assert heard.on(FINISHED) == [str(number).encode() for number in range(many)]


def test_a_daemon_that_hears_nothing_notices_all_the_same_that_its_broker_began_anew(
    broker: Mosquitto, place: Place
) -> None:
    place.environ["EXTRACTORD_MQTT__HEAR"] = "false"
    with place.running():
        place.wait_for(lambda: "the broker is there" in place.log())
        broker.stop(signal.SIGKILL)
        broker.start()
        with broker.heard(STATUS) as heard:
            heard.wait_for(lambda: is_status(heard, "online"), 120)
    assert "never retrieved" not in place.log()
