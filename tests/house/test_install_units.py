"""`install systemd` and `launchd`, with a systemctl and a launchctl that write down what they are told."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from person import Person

ANALYZE = shutil.which("systemd-analyze")
SUPERVISOR = """#!/bin/sh
echo "$(basename "$0") $*" >> "$RECORD"
case "$*" in
  *is-system-running) echo "$MANAGER";;
  "print "*) [ -e "$RECORD.loaded" ] || exit 113; printf '\t%s\n' "state = running";;
  "bootstrap "*) [ ! -e "$RECORD.loaded" ] || exit 5; touch "$RECORD.loaded";;
  "bootout "*) rm "$RECORD.loaded" || exit 3;;
  *show*) echo "StatusText=watching 12 folders"; echo "ActiveState=active";;
esac
case "$(basename "$0")" in systemd-run|unshare) exit "$NAMESPACES";; esac
"""


class Machine:
    """A person's machine whose programs for units only write down what they are told."""

    def __init__(self, home: Path) -> None:
        self.person = Person(home / "me")
        self.record = home / "record"
        self.bin = home / "bin"
        self.bin.mkdir()
        for name in ("systemctl", "systemd-run", "launchctl", "unshare"):
            (self.bin / name).write_text(SUPERVISOR)
            (self.bin / name).chmod(0o755)
        self.manager, self.namespaces = "running", "0"

    @property
    def folder(self) -> Path:
        return self.person.home / ".config/systemd/user"

    @property
    def unit(self) -> Path:
        return self.folder / "extractord.service"

    def types(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        self.record.write_text("")
        path = f"{self.bin}:{os.environ['PATH']}"
        return self.person.types(
            *arguments,
            PATH=path,
            RECORD=str(self.record),
            MANAGER=self.manager,
            NAMESPACES=self.namespaces,
        )

    def told(self) -> list[str]:
        return self.record.read_text().splitlines()

    def values(self, name: str) -> list[str]:
        lines = [line.partition("=") for line in self.unit.read_text().splitlines()]
        return [value for given, _, value in lines if given == name]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_unit_is_shown_written_and_started_and_its_first_status_is_said(machine: Machine) -> None:
    done = machine.types("install", "systemd", "--yes")
    assert done.returncode == 0, done.stderr
    assert machine.told() == [
        "systemctl --user is-system-running",
        "systemd-run --user --wait --quiet --collect -pPrivateUsers=yes -pProtectSystem=strict true",
        "systemctl --user daemon-reload",
        "systemctl --user enable extractord.service",
        "systemctl --user restart extractord.service",
        "systemctl --user show --property=ActiveState,StatusText extractord.service",
    ]
    assert "+WatchdogSec=5min" in done.stdout
    assert "StatusText=watching 12 folders" in done.stdout
    assert "loginctl enable-linger" in done.stdout
    [command] = machine.values("ExecStart")
    assert command.endswith(" run")
    assert Path(command.split()[0]).is_file()
    home = machine.person.home
    assert machine.values("ReadWritePaths") == [f"-{home}/data -{home}/state"]
    assert f"EXTRACTORD_STATE_DIR={home}/state" in " ".join(machine.values("Environment"))
    assert (home / "data").stat().st_mode & 0o777 == 0o700
    assert not (machine.folder / "extractord.service.d").exists()


def test_taking_it_out_leaves_no_trace_and_says_where_the_memories_are(machine: Machine) -> None:
    machine.namespaces = "1"
    key = machine.person.home / "key"
    key.write_text("sk-1")
    key.chmod(0o600)
    assert machine.types("install", "systemd", "--yes", "--key-file", str(key)).returncode == 0
    assert len(list(machine.folder.rglob("*.conf"))) == 2
    done = machine.types("uninstall", "systemd", "--yes")
    assert done.returncode == 0, done.stderr
    assert machine.told()[-2:] == [
        "systemctl --user disable --now extractord.service",
        "systemctl --user daemon-reload",
    ]
    assert not (machine.person.home / ".config").exists()
    assert f"The memories stay in {machine.person.memory}" in done.stdout
    assert key.read_text() == "sk-1"
    assert "nothing to change" in machine.types("uninstall", "systemd", "--yes").stdout


def test_without_user_namespaces_the_drop_in_is_written_too(machine: Machine) -> None:
    machine.namespaces = "1"
    done = machine.types("install", "systemd", "--yes")
    assert "gives services no user namespace" in " ".join(done.stdout.split())
    dropin = machine.folder / "extractord.service.d/without-user-namespaces.conf"
    assert "PrivateUsers=no" in dropin.read_text()


def test_where_no_systemd_answers_the_unit_is_written_and_the_words_are_said(machine: Machine) -> None:
    machine.manager = "offline"
    done = machine.types("install", "systemd", "--yes")
    assert done.returncode == 0, done.stderr
    assert machine.told()[1:] == ["unshare --user --map-root-user --mount true"]
    assert "`systemctl --user enable --now extractord.service` starts it" in " ".join(done.stdout.split())
    assert machine.unit.exists()
    assert machine.types("uninstall", "systemd", "--yes").returncode == 0
    assert not machine.unit.exists()


def test_a_key_is_handed_over_where_nobody_else_can_read_it_and_refused_else(machine: Machine) -> None:
    key = machine.person.home / "a key"
    key.write_text("sk-1")
    key.chmod(0o644)
    refused = machine.types("install", "systemd", "--yes", "--key-file", str(key))
    assert refused.returncode == 2
    assert "chmod 600" in refused.stderr
    assert not machine.unit.exists()
    missing = machine.types("install", "systemd", "--yes", "--key-file", "/nowhere/key")
    assert (missing.returncode, "/nowhere/key cannot be used" in missing.stderr) == (2, True)
    key.chmod(0o600)
    assert machine.types("install", "systemd", "--yes", "--key-file", str(key)).returncode == 0
    dropin = (machine.folder / "extractord.service.d/model-key.conf").read_text()
    assert f"LoadCredential=model_key:{key}\n" in dropin
    assert "sk-1" not in dropin


def test_a_longer_drain_has_a_longer_stop_and_installing_again_follows(machine: Machine) -> None:
    assert machine.types("install", "systemd", "--yes").returncode == 0
    assert machine.values("TimeoutStopSec") == ["75"]
    assert "nothing to change" in machine.types("install", "systemd", "--yes").stdout
    (machine.person.home / "config.toml").write_text("[run]\ndrain_s = 200\n")
    assert machine.types("install", "systemd", "--yes").returncode == 0
    assert machine.values("TimeoutStopSec") == ["215"]
    assert "systemctl --user restart extractord.service" in machine.told()


def test_a_unit_that_is_somebody_elses_is_left(machine: Machine) -> None:
    machine.folder.mkdir(parents=True)
    machine.unit.write_text("[Service]\nExecStart=/bin/other\n")
    assert machine.types("install", "systemd", "--yes").returncode == 1
    assert machine.types("uninstall", "systemd", "--yes").returncode == 0
    assert machine.unit.read_text() == "[Service]\nExecStart=/bin/other\n"


def test_the_systems_unit_is_never_for_root(machine: Machine) -> None:
    refused = machine.types("install", "systemd", "--system", "--account", "root", "--dry-run")
    assert refused.returncode == 2
    assert "--account NAME" in refused.stderr
    shown = machine.types("install", "systemd", "--system", "--account", "dev", "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "+User=dev" in shown.stdout
    assert "/etc/systemd/system/extractord.service" in shown.stdout
    assert machine.told() == ["systemctl is-system-running"]


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_wrong_with_what_was_written(machine: Machine) -> None:
    assert machine.types("install", "systemd", "--yes").returncode == 0
    assert ANALYZE is not None
    environ = {"PATH": os.environ["PATH"], "HOME": str(machine.person.home), "LC_ALL": "C",
               "XDG_RUNTIME_DIR": str(machine.person.home)}  # fmt: skip

    def asked(*words: str) -> str:
        ran = subprocess.run(
            [ANALYZE or "", "--user", "--no-pager", *words, str(machine.unit)],
            env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return ran.stdout + ran.stderr

    assert [line for line in asked("verify", "--man=no").splitlines() if "extractord.service" in line] == []
    said = asked("security", "--offline=true")
    assert float(said.rpartition("extractord.service: ")[2].split()[0]) <= 1.8, said


def test_launchds_agent_is_a_property_list_with_this_machines_places(machine: Machine) -> None:
    done = machine.types("install", "launchd", "--yes")
    assert done.returncode == 0, done.stderr
    place = machine.person.home / "Library/LaunchAgents/extractord.plist"
    agent = plistlib.loads(place.read_bytes())
    home, uid = machine.person.home, os.getuid()
    arguments = agent["ProgramArguments"]
    assert arguments[:6] == ["/usr/bin/sandbox-exec", "-D", f"MEMORY={home}/data/memory", "-D",
                             f"STATE={home}/state", "-f"]  # fmt: skip
    assert Path(arguments[6]).is_file()
    assert arguments[-1] == "run"
    assert agent["EnvironmentVariables"]["EXTRACTORD_STATE_DIR"] == f"{home}/state"
    assert (agent["Umask"], agent["ExitTimeOut"]) == (0o077, 75)
    assert agent["StandardErrorPath"] == f"{home}/Library/Logs/extractord.log"
    asked = f"launchctl print gui/{uid}/extractord"
    started = [f"launchctl bootstrap gui/{uid} {place}", asked]
    assert machine.told() == [asked, *started]
    stopped = [f"launchctl bootout gui/{uid}/extractord"]
    (home / "config.toml").write_text("[run]\ndrain_s = 90\n")
    again = machine.types("install", "launchd", "--yes")
    assert again.returncode == 0, again.stderr
    assert machine.told() == [asked, *stopped, *started]
    assert machine.types("uninstall", "launchd", "--yes").returncode == 0
    assert machine.told() == [asked, *stopped]
    assert not place.exists()


def test_an_agent_that_launchd_does_not_have_is_taken_out_all_the_same(machine: Machine) -> None:
    assert machine.types("install", "launchd", "--yes").returncode == 0
    machine.record.with_name("record.loaded").unlink()
    done = machine.types("uninstall", "launchd", "--yes")
    assert done.returncode == 0, done.stderr
    assert not (machine.person.home / "Library/LaunchAgents").exists()


def test_an_odd_home_does_not_break_either_form(tmp_path: Path) -> None:
    odd = tmp_path / 'a & <b> "c" 100%'
    odd.mkdir()
    machine = Machine(odd)
    assert machine.types("install", "launchd", "--yes").returncode == 0
    place = machine.person.home / "Library/LaunchAgents/extractord.plist"
    assert plistlib.loads(place.read_bytes())["EnvironmentVariables"]["EXTRACTORD_STATE_DIR"] == str(
        machine.person.state
    )
    assert machine.types("install", "systemd", "--yes").returncode == 0
    [writable] = machine.values("ReadWritePaths")
    assert '"-' in writable
    assert "100%%" in writable
    assert '\\"c\\"' in writable


def test_the_units_are_in_the_package() -> None:
    asked = "import extractord, pathlib; print(pathlib.Path(extractord.__path__[0], 'units').resolve())"
    ran = subprocess.run([sys.executable, "-P", "-c", asked], capture_output=True, text=True, check=True)
    units = Path(ran.stdout.strip())
    assert (units / "systemd/user/extractord.service").is_file()
    assert (units / "launchd/daemon.sb").is_file()
