"""The units repeat the law, each line says why, and their scores are as promised."""

from __future__ import annotations

import os
import plistlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from extractord.config.settings import Run

TOP = Path(__file__).parents[2]
SYSTEM = TOP / "systemd/extractord.service"
USER = TOP / "systemd/user/extractord.service"
WITHOUT = TOP / "systemd/user/extractord.service.d/without-user-namespaces.conf"
MODEL_KEY = TOP / "systemd/extractord.service.d/model-key.conf"
UNITS = pytest.mark.parametrize("unit", [SYSTEM, USER], ids=["system", "user"])
GRACE_S = 15

ANALYZE = shutil.which("systemd-analyze")
analyzed = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")


def directives(path: Path) -> list[tuple[str, str]]:
    lines = [line for line in path.read_text().splitlines() if re.match(r"[A-Z]\w*=", line)]
    return [(name, value) for name, _, value in (line.partition("=") for line in lines)]


def values(path: Path, name: str) -> list[str]:
    return [value for given, value in directives(path) if given == name]


def analyze(tmp_path: Path, unit: Path, *arguments: str, dropin: Path | None = None) -> str:
    """What systemd-analyze says of a unit, its program replaced by one that is there."""
    copy = tmp_path / unit.name
    copy.write_text(re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text()))
    if dropin is not None:
        (tmp_path / f"{unit.name}.d").mkdir()
        shutil.copy(dropin, tmp_path / f"{unit.name}.d")
    assert ANALYZE is not None
    mode = "--user" if unit == USER else "--system"
    ran = subprocess.run(
        [ANALYZE, mode, "--no-pager", *arguments, str(copy)],
        env={
            "PATH": os.environ["PATH"],
            "XDG_RUNTIME_DIR": str(tmp_path),
            "HOME": str(tmp_path),
            "LC_ALL": "C",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout + ran.stderr


def score(said: str) -> float:
    found = re.search(r"Overall exposure level for \S+: (\d+\.\d)", said)
    assert found is not None, said
    return float(found[1])


@analyzed
@pytest.mark.parametrize(("unit", "most"), [(SYSTEM, 1.3), (USER, 1.8)], ids=["system", "user"])
def test_systemd_scores_it_as_promised(tmp_path: Path, unit: Path, most: float) -> None:
    assert score(analyze(tmp_path, unit, "security", "--offline=true")) <= most


@analyzed
def test_without_user_namespaces_it_is_less_and_still_something(tmp_path: Path) -> None:
    assert 2 < score(analyze(tmp_path, USER, "security", "--offline=true", dropin=WITHOUT)) < 7


@analyzed
@UNITS
def test_systemd_finds_nothing_wrong_with_it(tmp_path: Path, unit: Path) -> None:
    said = analyze(tmp_path, unit, "verify", "--man=no")
    assert [line for line in said.splitlines() if unit.name in line] == []


@UNITS
def test_it_stops_as_the_daemon_does_and_lets_it_confine_itself(unit: Path) -> None:
    assert values(unit, "KillMode") == ["mixed"]
    assert values(unit, "TimeoutStopSec") == [str(int(Run().drain_s) + GRACE_S)]
    assert "PYTHONSAFEPATH=1" in " ".join(values(unit, "Environment"))
    assert values(unit, "RestartPreventExitStatus") == ["75 78"]
    assert (values(unit, "Type"), values(unit, "WatchdogSec")) == (["notify"], ["5min"])
    assert values(unit, "ExecReload") == ["/bin/kill -HUP $MAINPID"]
    allowed = " ".join(
        value for value in values(unit, "SystemCallFilter") if not value.startswith("~")
    ).split()
    own = {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"}
    assert own <= set(allowed)
    assert all(path.startswith("-") for path in " ".join(values(unit, "ReadWritePaths")).split())


@pytest.mark.parametrize(("unit", "bus"), [(SYSTEM, "/run/dbus"), (USER, "%t/bus")], ids=["system", "user"])
def test_no_local_socket_that_starts_programs_is_within_reach(unit: Path, bus: str) -> None:
    hidden = " ".join(values(unit, "InaccessiblePaths")).split()
    assert {"-/run/docker.sock", "-/run/containerd", f"-{bus}"} <= set(hidden)
    assert all(path.startswith("-") for path in hidden)


@UNITS
def test_every_group_of_lines_says_why(unit: Path) -> None:
    unsaid, is_said = [], False
    for line in unit.read_text().splitlines():
        if re.match(r"[A-Z]\w*=", line):
            unsaid += [] if is_said else [line.partition("=")[0]]
        else:
            is_said = line.startswith("#")
    assert set(unsaid) <= {"Description", "Documentation", "WantedBy"}


@pytest.mark.parametrize("dropin", [WITHOUT, MODEL_KEY], ids=lambda path: path.name)
def test_a_drop_in_says_first_what_it_is_for(dropin: Path) -> None:
    assert dropin.read_text().startswith("# ")


def test_the_drop_in_takes_back_all_that_needs_a_namespace() -> None:
    needs = {
        "PrivateUsers", "ProtectSystem", "ProtectHome", "ReadWritePaths", "InaccessiblePaths", "PrivateTmp",
        "PrivateDevices", "PrivateIPC", "PrivateMounts", "ProtectClock", "ProtectHostname",
        "ProtectKernelTunables", "ProtectKernelLogs", "ProtectKernelModules", "ProtectControlGroups",
        "ProtectProc", "CapabilityBoundingSet",
    }  # fmt: skip
    assert {name for name, _ in directives(WITHOUT)} == needs
    assert needs <= {name for name, _ in directives(USER)}


def test_the_key_is_handed_over_under_the_name_that_the_house_takes() -> None:
    assert [value.partition(":")[0] for value in values(MODEL_KEY, "LoadCredential")] == ["model_key"]
    assert '"model_key"' in (TOP / "extractord/environs.py").read_text()


def test_launchd_waits_as_long_as_systemd() -> None:
    plist = plistlib.loads((TOP / "launchd/extractord.plist").read_bytes())
    assert plist["ExitTimeOut"] == int(Run().drain_s) + GRACE_S
    assert plist["EnvironmentVariables"] == {"PYTHONSAFEPATH": "1"}
    assert plist["ProgramArguments"][-2:] == ["/usr/local/bin/extractord", "run"]
    assert plist["Umask"] == 0o077


Form = str | list["Form"]
TOKEN = re.compile(r'\s+|;[^\n]*|(?P<token>[()]|#?"(?:[^"\\]|\\.)*"|[^\s()";]+)')


def forms(text: str) -> list[Form]:
    """Given a profile, return its forms as nested lists. Raise ValueError where it is no scheme."""
    stack: list[list[Form]] = [[]]
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(text[at : at + 20])
        at = match.end()
        match match["token"]:
            case None:
                pass
            case "(":
                stack.append([])
            case ")":
                done = stack.pop()
                if not stack:
                    raise ValueError("a bracket too many")
                stack[-1].append(done)
            case token:
                stack[-1].append(token)
    if len(stack) != 1:
        raise ValueError("a bracket too few")
    return stack[0]


PROFILES = sorted((TOP / "launchd").glob("*.sb"))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.name)
def test_a_profile_is_scheme_of_few_forms(profile: Path) -> None:
    first, *rest = forms(profile.read_text())
    assert first == ["version", "1"]
    assert {form[0] for form in rest} == {"allow", "deny"}
    assert len(rest) < 20


def test_the_profiles_deny_what_each_process_has_not() -> None:
    denied = {
        profile.stem: {form[1] for form in forms(profile.read_text()) if form[0] == "deny"}
        for profile in PROFILES
    }
    assert {"default", "file-write*", "network*", "process-exec", "process-fork"} <= denied["child"]
    assert {"default", "process-exec", "process-fork"} <= denied["modelhost"]
    assert "file-write*" in denied["daemon"]


@pytest.mark.parametrize("broken", ["(a", "a)", '(a "b)'])
def test_what_is_no_scheme_is_found(broken: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        forms(broken)
