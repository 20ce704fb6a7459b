"""docs/fleet.md, followed: its broker's configuration, its rights for each role, certificates, mistakes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import jsonschema
import pytest
from broking import FLEET_PAGE, HAS_BROKER, HAS_CERTIFICATES, Mosquitto
from living import EXTRACTORD, FACTS, TUESDAY, Place
from machines import machine

from extractord.core.fleet import partition_of

ANN, BOB = "ann@desk", "bob@desk"
NAMES = (ANN, BOB, "extractor-1", "extractor-2")
FLEET = "extractord/v1/fleet"
GOOD = "---\nname: mondays\ndescription: We deploy on Mondays\nmetadata:\n  type: user\n---\nWe do.\n"
EXTRACTOR = ("--role", "extractor", "--partitions")

pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not HAS_BROKER, reason="mosquitto and mosquitto-clients are not installed"),
    pytest.mark.skipif(not HAS_CERTIFICATES, reason="openssl is not installed"),
]


def schemas() -> dict[str, dict[str, object]]:
    """The schemas that docs/events.md has, by topic."""
    text = FLEET_PAGE.with_name("events.md").read_text()
    found = re.findall(r"### `([^`]+)`\n(?:(?!###).)*?```json\n(.*?)```", text, re.DOTALL)
    return {topic: json.loads(schema) for topic, schema in found}


def kind_of(topic: str) -> str:
    """The topic as docs/events.md names it."""
    kind = re.sub(r"/v1/extractor-\d/", "/v1/<name>/", topic)
    kind = re.sub(r"(receipts|roots)/[^/]+", r"\1/<person>", kind)
    kind = re.sub(r"(roots/<person>)/.*", r"\1/<root>", kind)
    return re.sub(r"(extractors|claims)/.*", r"\1/<extractor>", kind)


def documented(folder: Path, broker: Mosquitto, name: str) -> Place:
    """As the page configures it: an extractor says its runs, a workstation nothing."""
    made = machine(folder / name, broker, name, name)
    if not name.startswith("extractor-"):
        made.environ["EXTRACTORD_MQTT__SAY"] = "false"
    return made


@pytest.mark.parametrize("certified", [False, True], ids=["passwords", "certificates"])
def test_with_the_pages_broker_every_role_may_what_it_needs_and_says_what_the_schemas_say(
    tmp_path: Path, *, certified: bool
) -> None:
    assert partition_of(ANN, 16) > 7 > partition_of(BOB, 16)
    known = schemas()
    with Mosquitto.documented(tmp_path / "broker", NAMES, certified=certified) as broker, ExitStack() as all_:
        heard = all_.enter_context(broker.heard("extractord/#", user="root"))
        ann, bob, low, high = (documented(tmp_path, broker, name) for name in NAMES)
        all_.enter_context(low.running(*EXTRACTOR, "0-7"))
        all_.enter_context(high.running(*EXTRACTOR, "8-15"))
        all_.enter_context(ann.running("--role", "forwarder", "--role", "mirror"))
        all_.enter_context(bob.running("--role", "forwarder", "--role", "mirror"))
        ann.wait_for(lambda: "watching" in ann.log())
        ann.said(TUESDAY)
        bob.wait_for(lambda: "watching" in bob.log())
        bob.said(FACTS[1])
        ann.wait_for(ann.memories)
        bob.wait_for(bob.memories)
        assert (low.texts(), high.texts()) == (bob.texts(), ann.texts())
        wanted = {f"extractord/v1/{name}/said/run/finished" for name in NAMES[2:]}
        wanted |= {topic for topic in known if "/fleet/" in topic}

        def named() -> set[str]:
            return {each for topic, _, _ in heard.messages() for each in (topic, kind_of(topic))}

        heard.wait_for(lambda: named() >= wanted)
        messages = heard.messages()
        for each in (ann, bob, low, high):
            assert "refuse" not in each.log(), each.log()
    for topic, payload, _ in messages:
        kind = kind_of(topic)
        if "/windows/" not in kind and "/memories/" not in kind:
            jsonschema.validate(json.loads(payload), known[kind])
    (raw,) = (payload for topic, payload, _ in messages if topic.startswith(f"{FLEET}/memories/{ANN}/"))
    assert raw.decode() in ann.texts().values()


def test_with_the_pages_rights_nobody_reaches_anothers_topics(tmp_path: Path) -> None:
    with Mosquitto.documented(tmp_path / "broker", NAMES) as broker:
        tries = {
            ANN: [
                f"{FLEET}/memories/{ANN}/user/a.md",
                f"{FLEET}/memories/{BOB}/user/a.md",
                f"{FLEET}/roots/{BOB}/user",
                f"{FLEET}/receipts/{ANN}",
                f"{FLEET}/windows/4/{BOB}",
                "extractord/v1/extractor-1/status",
            ],
            "extractor-1": [f"{FLEET}/windows/4/{BOB}", "extractord/v1/extractor-2/status"],
        }
        may = {ANN: [f"{FLEET}/windows/12/{ANN}"], "extractor-1": [f"{FLEET}/memories/{BOB}/user/a.md"]}
        with broker.heard("#", user="root") as all_, broker.heard("#", user=ANN) as hers:
            for topics in (tries, may):
                for user, named in topics.items():
                    for topic in named:
                        broker.publish(topic, GOOD, user)
            wanted = {topic for named in may.values() for topic in named}
            all_.wait_for(lambda: {topic for topic, _, _ in all_.messages()} >= wanted)
            assert {topic for topic, _, _ in all_.messages()} == wanted
            broker.publish(f"{FLEET}/memories/{ANN}/user/a.md", GOOD, "extractor-1")
            hers.wait_for(hers.messages)
        assert [topic for topic, _, _ in hers.messages()] == [f"{FLEET}/memories/{ANN}/user/a.md"]


def test_without_a_certificate_that_is_asked_for_the_broker_is_not_reached_and_the_log_says_so(
    tmp_path: Path,
) -> None:
    with Mosquitto.documented(tmp_path / "broker", NAMES, certified=True) as broker:
        desk = documented(tmp_path, broker, ANN)
        del desk.environ["EXTRACTORD_MQTT__CERT_FILE"], desk.environ["EXTRACTORD_MQTT__KEY_FILE"]
        with desk.running("--role", "forwarder", until="reconnecting"):
            time.sleep(1)
        assert "broker is there" not in desk.log()
        assert "certificate" in desk.log()


def test_a_wrong_password_is_said_with_the_settings_to_look_at(tmp_path: Path) -> None:
    with Mosquitto.documented(tmp_path / "broker", NAMES) as broker:
        desk = documented(tmp_path, broker, ANN)
        wrong = tmp_path / "wrong"
        wrong.write_text("not-this-one")
        wrong.chmod(0o600)
        desk.environ["EXTRACTORD_MQTT__PASSWORD_FILE"] = str(wrong)
        with desk.running("--role", "mirror", until="reconnecting"):
            pass
        assert "does not know this name and password" in desk.log()
        assert "not-this-one" not in desk.log()


def test_events_that_the_broker_lets_nobody_say_are_told_of_once_and_stop_nothing(tmp_path: Path) -> None:
    with Mosquitto.documented(tmp_path / "broker", NAMES) as broker:
        desk = documented(tmp_path, broker, ANN)
        del desk.environ["EXTRACTORD_MQTT__SAY"]
        far = documented(tmp_path, broker, "extractor-2")
        with far.running(*EXTRACTOR, "8-15"), desk.running("--role", "forwarder"):
            desk.wait_for(lambda: "watching" in desk.log())
            desk.said(TUESDAY)
            far.wait_for(far.memories)
            time.sleep(5)
        assert desk.log().count("refuses") == 1
        assert 'msg="the broker is there"' not in desk.log()


def test_a_volume_with_others_memories_is_not_served_and_its_own_is(tmp_path: Path) -> None:
    with Mosquitto.documented(tmp_path / "broker", NAMES) as broker:
        far = documented(tmp_path, broker, "extractor-2")
        person = far.home / "state/persons" / ANN
        person.mkdir(parents=True, mode=0o700)
        ran = subprocess.run(
            [*EXTRACTORD, "run", *EXTRACTOR, "0-7"],
            env=far.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 78
        assert f"{ANN} is of partition 12" in ran.stderr
        with far.running(*EXTRACTOR, "8-15"):
            pass


def test_a_copy_of_a_state_that_runs_elsewhere_is_said_by_both(tmp_path: Path) -> None:
    with Mosquitto.documented(tmp_path / "broker", NAMES) as broker:
        one = documented(tmp_path, broker, "extractor-1")
        with one.running(*EXTRACTOR, "0-7"):
            pass
        other = documented(tmp_path / "elsewhere", broker, "extractor-1")
        shutil.copytree(one.home / "state", other.home / "state")
        shutil.copytree(one.home / "data", other.home / "data")
        with one.running(*EXTRACTOR, "0-7"), other.running(*EXTRACTOR, "0-7"):
            one.wait_for(lambda: "a copy of this state run elsewhere" in one.log())
            other.wait_for(lambda: "a copy of this state run elsewhere" in other.log())


def test_what_is_changed_or_deleted_in_a_mirror_is_put_right(tmp_path: Path) -> None:
    with Mosquitto.documented(tmp_path / "broker", NAMES) as broker:
        desk = documented(tmp_path, broker, ANN)
        topic = f"{FLEET}/memories/{ANN}/user/mondays.md"
        broker.publish(topic, GOOD, "extractor-1", retain=True)
        with desk.running("--role", "mirror"):
            desk.wait_for(desk.memories)
            copy = desk.home / "data/memory/user/mondays.md"
            for _ in range(2):
                copy.write_text(GOOD.replace("We do.", "We do not."))
                desk.wait_for(lambda: copy.read_text() == GOOD)
            copy.unlink()
            desk.wait_for(copy.exists)
            assert copy.read_text() == GOOD
