"""`config`: what it shows can be taken for a configuration, and its check finds what others would refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from person import Person


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "me")


def test_what_is_shown_can_be_the_configuration(person: Person, tmp_path: Path) -> None:
    given = tmp_path / "given.toml"
    given.write_text(
        'mode = "ask"\n[agents.pi]\nheadless = true\n[projects.identities]\n"/a b" = "c"\n'
        '[model.prices."x/y"]\ninput = 1\noutput = 2.5\n'
    )
    shown = person.types("config", "show", EXTRACTORD_CONFIG=str(given))
    again = tmp_path / "again.toml"
    again.write_text(shown.stdout)
    assert person.types("config", "check", EXTRACTORD_CONFIG=str(again)).returncode == 0
    twice = person.types("config", "show", EXTRACTORD_CONFIG=str(again))
    assert twice.stdout.splitlines()[1:] == shown.stdout.splitlines()[1:]
    assert 'mode = "ask"' in twice.stdout


def test_the_check_finds_what_a_start_would_refuse_all_at_once(person: Person, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = person.types(
        "config",
        "check",
        EXTRACTORD_AGENTS__CLAUD__ENABLED="true",
        EXTRACTORD_MODEL__NAME="openai/x",
        EXTRACTORD_MODEL__KEY_FILE=str(tmp_path / "nowhere"),
        EXTRACTORD_MQTT__URL="http://broker",
        EXTRACTORD_MEMORY__DIR=str(tmp_path / ("m" * 256)),
        EXTRACTORD_STATE_DIR=str(tmp_path / "file"),
    )
    assert (done.returncode, [line.partition(": ")[2][:40] for line in done.stderr.splitlines()]) == (
        78,
        [
            "`mqtt.url` is 'http://broker': give mqtt",
            f"`model.key_file` names {tmp_path}/nowhere"[:40],
            "`agents.claud` is not an agent that can ",
            f"`memory.dir` is {tmp_path}/mmmm"[:40],
            f"the state directory is {tmp_path}/file"[:40],
        ],
    )


@pytest.mark.parametrize("command", ["run", "extract"])
def test_without_the_key_that_is_named_nothing_begins(person: Person, tmp_path: Path, command: str) -> None:
    key = tmp_path / "key"
    done = person.types(command, EXTRACTORD_MODEL__NAME="openai/x", EXTRACTORD_MODEL__KEY_FILE=str(key))
    wrong = f"`model.key_file` names {key}, which cannot be read (No such file or directory)"
    assert (done.returncode, done.stderr) == (
        78,
        f"extractord: {wrong}: put it there alone, mode 0600\n",
    )
    embedded = person.types("extract", EXTRACTORD_MODEL__KEY_FILE=str(key))
    assert embedded.returncode == 0
