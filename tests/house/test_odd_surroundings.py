"""What a disk, a path or a missing terminal does to a command is said, and never as a fault of ours."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from claude_transcript import Session
from person import Person

from extractord.edges.state.files import in_words
from extractord.errors import StoreError

LONG = "a" * 300


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "me")


def spoken(person: Person) -> None:
    session = Session(person.home, "s", person.shop)
    session.asks("Remember: we deploy only on Tuesdays, since stock is counted on Mondays.")
    session.says("Noted.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", [["config", "sample"], ["--help"], ["status", "--json"]], ids=" ".join)
def test_where_the_output_has_no_room_that_is_said(person: Person, command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "extractord", *command],
            env=person.environ(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "extractord: what is written: No space left on device\n")


@pytest.mark.parametrize("command", ["extract", "entries"])
def test_a_path_that_is_too_long_is_named_and_the_others_go_on(person: Person, command: str) -> None:
    spoken(person)
    done = person.types(command, LONG)
    assert (done.returncode, done.stderr) == (
        1,
        f"extractord: {LONG}: cannot be looked at: File name too long\n",
    )
    there = str(person.home / ".claude")
    both = person.types("extract", LONG, there)
    assert (both.returncode, "1 saved, 0 failed" in both.stdout) == (1, True)


def test_a_place_that_is_too_long_is_named(person: Person) -> None:
    done = person.types("context", EXTRACTORD_MEMORY__DIR=f"/{LONG}")
    assert (done.returncode, done.stderr) == (1, f"extractord: /{LONG}/user: File name too long\n")


@pytest.mark.parametrize("command", ["extract", "import"])
def test_an_empty_path_is_not_the_folder_that_one_stands_in(person: Person, command: str) -> None:
    (person.home / "notes.md").write_text("We deploy only on Tuesdays.\n")
    spoken(person)
    done = person.types(command, "")
    assert (done.returncode, "is empty" in done.stderr, person.told("memories", "list")) == (2, True, [])
    assert person.types(command, ".", "--dry-run").returncode in (0, 1)


def test_no_editor_is_opened_where_nobody_sits(person: Person) -> None:
    spoken(person)
    person.types("extract")
    (memory,) = person.told("memories", "list")
    edited = person.types("memories", "edit", str(memory["name"]))
    assert (edited.returncode, edited.stderr) == (
        2,
        "extractord: this is no terminal to open an editor at: set EDITOR, or change the file itself\n",
    )
    assert person.types("memories", "edit", str(memory["name"]), EDITOR="true").returncode == 0


@pytest.mark.parametrize("command", [("runs", "list"), ("audit", "show")], ids=" ".join)
def test_a_limit_of_nothing_is_no_claim_that_nothing_happened(
    person: Person, command: tuple[str, ...]
) -> None:
    spoken(person)
    person.types("extract")
    for limit in ("0", "-1"):
        done = person.types(*command, "--limit", limit)
        assert (done.returncode, done.stdout, "Must be >= 1" in done.stderr) == (2, "", True)
    assert len(person.told(*command, "--limit", "1")) == 1
    assert person.types("audit", "show", "nobody").stdout.startswith("no row is about 'nobody'")


def test_a_batch_says_all_that_came_of_it(person: Person) -> None:
    spoken(person)
    dry = person.types("extract", "--dry-run")
    assert dry.stdout.splitlines()[-1] == "a dry run: nothing was run or written"
    other = Session(person.home, "other", person.shop)
    other.asks("Please have a look at the failing build")
    other.says("I see.")
    done = person.types("extract")
    assert "1 saved, 1 with nothing to save, 0 failed" in done.stdout
    summary = person.told("extract")[-1]
    assert (summary["saved"], summary["held"], summary["nothing"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (OSError(28, "No space left on device"), "make room on its disk"),
        (
            OSError(30, "Read-only file system"),
            "its disk is read-only; make it writable, or set another place",
        ),
        (
            OSError(13, "Permission denied"),
            "see that this user may write there, and that nothing else has its name",
        ),
    ],
    ids=["full", "read-only", "denied"],
)
def test_what_cannot_be_used_is_said_with_what_helps(fault: OSError, said: str) -> None:
    with pytest.raises(StoreError) as caught, in_words(Path("/p/lock"), StoreError):
        raise fault
    assert str(caught.value) == f"/p/lock cannot be used ({fault.strerror}): {said}"


def test_options_of_systemd_are_refused_where_they_would_do_nothing(person: Person) -> None:
    for arguments in (
        ("codex", "--key-file", "/k"),
        ("pi", "--system"),
        ("claude-code", "--account", "ann"),
        ("systemd", "--account", "ann"),
    ):
        done = person.types("install", *arguments, "--dry-run")
        assert (done.returncode, done.stdout) == (2, ""), arguments
    assert person.types("install", "codex", "--dry-run").returncode == 0


def begun(pid: int) -> None:
    """Wait until the interpreter is there, which heeds interrupts, and our first line, which lets them be."""
    for wanted in (True, False):
        until = time.monotonic() + 10
        while time.monotonic() < until:
            _, _, rest = Path(f"/proc/{pid}/status").read_text().partition("SigCgt:\t")
            if bool(int(rest[:16], 16) & (1 << (signal.SIGINT - 1))) is wanted:
                break


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
@pytest.mark.parametrize("after_s", [0, 0.2, 0.6, 1.6])
def test_an_interrupt_ends_a_command_without_a_word_of_its_inside(person: Person, after_s: float) -> None:
    spoken(person)
    command = [sys.executable, "-m", "extractord", "extract"]
    with subprocess.Popen(
        command,
        env=person.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as started:
        begun(started.pid)
        time.sleep(after_s)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGINT)
        _, complaint = started.communicate(timeout=60)
    assert started.returncode in (0, 130, -signal.SIGINT)
    assert "Traceback" not in complaint
    assert person.types("extract").returncode == 0
    assert len(person.told("memories", "list")) == 1


@pytest.mark.parametrize(
    ("command", "lacks"),
    [(("undo",), "RUN"), (("memories", "show"), "MEMORY"), (("project", "move", "a"), "NEW")],
    ids=["undo", "memories show", "project move"],
)
def test_what_is_lacking_has_the_name_that_help_gives_it(
    person: Person, command: tuple[str, ...], lacks: str
) -> None:
    done = person.types(*command)
    assert (done.returncode, f"parameter {lacks} requires" in done.stderr) == (2, True)
    assert f" {lacks}" in person.types(*command[:2], "--help").stdout.splitlines()[0]
