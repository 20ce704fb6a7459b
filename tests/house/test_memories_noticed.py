"""What the daemon notices below <memory>: people's edits, and what an agent wrote there itself."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from person import EXTRACTORD, SHOP_ROOT, Person
from storing import PROJECT, fact

WORDS = "Deploys happen on Tuesdays only"
CARGO = "I like short answers best"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """Two memories that a run wrote."""
    made = Person(tmp_path / "me")
    for path, words in (("deploys.md", WORDS), ("tabs.md", "The project is indented with tabs")):
        made.run([(PROJECT, path, fact(path[:-3], words))], words)
    return made


@contextmanager
def daemon(person: Person) -> Iterator[Callable[[], str]]:
    """A daemon that looks again every second; gives its log."""
    log = person.home / "log"
    environ = person.environ(EXTRACTORD_RUN__RESCAN_S="1", EXTRACTORD_RUN__SETTLE_S="0.5")
    with log.open("w") as file:
        process = subprocess.Popen([*EXTRACTORD, "run"], env=environ, stderr=file)
    try:
        wait(lambda: "watching" in log.read_text(), log.read_text)
        yield log.read_text
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


def wait(claim: Callable[[], bool], why: Callable[[], str], seconds: float = 90.0) -> None:
    until = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < until, why()
        time.sleep(0.1)


def test_a_persons_edits_are_kept_indexed_and_buried_while_the_daemon_lives(person: Person) -> None:
    folder = person.memory / SHOP_ROOT
    (folder / "before.md").write_text(fact("before", "Written while nobody looked"))
    with daemon(person) as log:
        wait(lambda: "before.md" in (folder / "MEMORY.md").read_text(), log)
        (folder / "tabs.md").unlink()
        (folder / "later.md").write_text(fact("later", "Written while the daemon lives"))
        wait(lambda: "later.md" in (folder / "MEMORY.md").read_text(), log)
    assert "tabs.md" not in (folder / "MEMORY.md").read_text()
    stone = json.loads((person.state / "tombstones.jsonl").read_text())
    assert (stone["name"], stone["why"]) == ("tabs", "deleted")
    (version,) = person.told("memories", "history", f"{SHOP_ROOT}/later.md")
    assert (version["by"], version["trust"]) == ("person", "inferred")


def session(person: Person, *messages: dict[str, object]) -> None:
    """A session of Claude Code's shape; the first message is what the person typed."""
    name = "0a0b0c0d-0000-4000-8000-000000000001"
    lines, parent = [], None
    for number, message in enumerate(messages):
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "uuid": f"u{number}",
            "type": message["role"],
            "timestamp": f"2026-11-30T10:00:0{number}.000Z",
            "cwd": str(person.shop),
            "sessionId": name,
            "version": "2.1.332",
            "message": message,
            **({} if number else {"promptSource": "typed"}),
        }
        parent = record["uuid"]
        lines.append(json.dumps(record) + "\n")
    (person.home / f".claude/projects/-shop/{name}.jsonl").write_text("".join(lines))


def answer(number: int, part: Mapping[str, object], stop: str = "end_turn") -> dict[str, object]:
    return {"role": "assistant", "id": f"m{number}", "content": [part], "stop_reason": stop}


DONE = {"type": "text", "text": "Done."}


def test_what_an_agent_wrote_about_the_person_itself_waits_for_the_person(person: Person) -> None:
    place, index = person.memory / "user/likes.md", person.memory / "user/MEMORY.md"
    (person.home / ".claude/projects/-shop").mkdir(parents=True)
    with daemon(person) as log:
        place.parent.mkdir(exist_ok=True, mode=0o700)
        place.write_text(fact("likes", CARGO, "user"))
        written = {"file_path": str(place), "content": "x"}
        call = {"type": "tool_use", "id": "t1", "name": "Write", "input": written}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "File created successfully"}
        session(
            person,
            {"role": "user", "content": "Please keep in mind what you found out about me"},
            answer(1, call, "tool_use"),
            {"role": "user", "content": [result]},
            answer(2, DONE),
        )
        wait(lambda: "direct_write" in log(), log)
        wait(lambda: not index.exists() or "likes" not in index.read_text(), log)
    (row,) = person.told("review", "list")
    assert (row["id"], row["rules"]) == ("user/likes.md", ["withheld"])
    assert CARGO not in person.types("context").stdout


def test_each_runs_line_in_the_log_has_the_audits_head(person: Person) -> None:
    (person.home / ".claude/projects/-shop").mkdir(parents=True)
    with daemon(person) as log:
        session(
            person,
            {"role": "user", "content": "We review every change in pairs."},
            answer(1, DONE),
        )
        wait(lambda: "run/finished" in log(), log)
    (line,) = [line for line in log().splitlines() if "run/finished" in line]
    (verified,) = person.told("audit", "verify")
    assert f" audit={verified['head']}" in line


def test_what_a_folder_that_vanished_means_is_said_once(person: Person) -> None:
    for file in (person.memory / SHOP_ROOT).iterdir():
        file.unlink()
    with daemon(person) as log:
        wait(lambda: "nothing was forgotten" in log(), log)
        time.sleep(2.5)
        assert log().count("nothing was forgotten") == 1
    assert not (person.state / "tombstones.jsonl").exists()


def test_recall_extracts_nothing(person: Person) -> None:
    done = person.types("extract", EXTRACTORD_MODE="recall")
    assert (done.returncode, "extracts nothing" in done.stderr) == (2, True)
