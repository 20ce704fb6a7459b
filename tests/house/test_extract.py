"""`extract` as a person runs it: over examples, recorded agents, bad input, and a real provider's API."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from living import Place
from standin import StandIn, openai_reply, serving

TOP = Path(__file__).parents[2]
EXAMPLE = TOP / "docs/example"
SAMPLES = TOP.parent / "shared/samples"
CURRENT = {
    "claude": "claude-code",
    "codex": "codex",
    "gemini": "gemini-cli",
    "opencode": "opencode",
    "pi": "pi",
    "qwen": "qwen-code",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def extract(place: Place, *arguments: object) -> tuple[list[dict[str, Any]], dict[str, Any], str, int]:
    """Runs, summary, what was said on standard error, and the exit code."""
    ran = place.command("extract", "--json", *arguments)
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    return rows[:-1], rows[-1] if rows else {}, ran.stderr, ran.returncode


def files(place: Place) -> dict[str, str]:
    """All that is kept, indexes too, by path."""
    root = place.home / "data/memory"
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.md"))}


def test_the_example_becomes_memories_with_their_index_and_a_second_time_nothing_runs(place: Place) -> None:
    runs, summary, _, code = extract(place, EXAMPLE)
    assert ([run["outcome"] for run in runs], code) == (["saved", "saved"], 0)
    assert summary == {
        "summary": True,
        "entries": 22,
        "exchanges": 6,
        "runs": 2,
        "saved": 2,
        "held": 0,
        "nothing": 0,
        "skipped": {"no_prose": 1},
        "failed": 0,
    }
    kept = files(place)
    facts = [name for name in kept if not name.endswith("MEMORY.md")]
    assert len(facts) == 3
    assert all(f"({Path(name).name})" in kept[str(Path(name).with_name("MEMORY.md"))] for name in facts)
    assert not any("no-verify" in text for text in kept.values())
    assert extract(place, EXAMPLE)[1]["runs"] == 0


def test_a_plan_costs_and_changes_nothing(place: Place) -> None:
    assert extract(place, EXAMPLE, "--dry-run")[1]["exchanges"] == 6
    assert files(place) == {}
    assert extract(place, EXAMPLE)[1]["runs"] == 2


def test_only_what_is_young_enough_and_of_the_project_is_run(place: Place) -> None:
    assert extract(place, EXAMPLE, "--since", "1h")[1]["runs"] == 0
    assert extract(place, EXAMPLE, "--project", "/home/dev/other")[1]["runs"] == 0
    assert extract(place, EXAMPLE, "--project", "/home/dev/shop")[1]["runs"] == 2


def test_a_drain_of_no_seconds_begins_nothing_and_loses_nothing(place: Place) -> None:
    assert extract(place, EXAMPLE, "--drain", "0")[1]["runs"] == 0
    assert extract(place, EXAMPLE)[1]["runs"] == 2


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no recorded transcripts beside the checkout")
@pytest.mark.parametrize("folder", sorted(CURRENT))
def test_a_recorded_agent_s_facts_are_kept_once_with_where_they_are_from(place: Place, folder: str) -> None:
    runs, summary, _, code = extract(place, SAMPLES / folder / "current")
    assert (code, summary["failed"], summary["skipped"]["no_prose"] >= 1) == (0, 0, True)
    (tuesday,) = [text for text in files(place).values() if "\nWe deploy only on Tuesdays" in text]
    session = next(run["session"] for run in runs if any("tuesday" in path for path in run["written"]))
    assert f"\n  source: {CURRENT[folder]} {session} " in tuesday
    assert extract(place, SAMPLES / folder / "current")[1]["runs"] == 0


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no recorded transcripts beside the checkout")
@pytest.mark.parametrize("folder", ["codex", "gemini", "opencode", "pi"])
def test_an_exchange_in_which_the_agent_wrote_the_memory_itself_is_left_to_it(
    place: Place, folder: str
) -> None:
    place.environ["EXTRACTORD_MEMORY__DIR"] = "/home/dev/memory"
    summary = extract(place, SAMPLES / folder / "current", "--dry-run")[1]
    assert summary["skipped"]["direct_write"] == 1
    assert summary["exchanges"] > sum(summary["skipped"].values())


def test_each_bad_input_is_said_and_the_others_go_on(place: Place) -> None:
    bad = place.home / "bad"
    (bad / "empty").mkdir(parents=True)
    (bad / "rubbish.jsonl").write_bytes(os.urandom(50_000))
    (bad / "cut.db").write_bytes(b"SQLite format 3\0" + bytes(900))
    for arguments, sentence in (
        ([bad / "empty"], "holds no transcript of a known agent"),
        ([bad / "none"], "there is no such file or folder"),
        ([bad / "rubbish.jsonl"], "no known agent writes this; name the agent with --agent"),
        ([bad / "rubbish.jsonl", "--agent", "claude-code"], "nothing in it is a record of claude-code"),
        ([bad / "cut.db", "--agent", "opencode"], "cut.db"),
    ):
        _, _, said, code = extract(place, *arguments, EXAMPLE)
        assert sentence in said, said
        assert code == 1
    assert len([name for name in files(place) if "MEMORY" not in name]) == 3


def test_an_agent_that_nobody_knows_is_a_usage_error_that_names_those_known(place: Place) -> None:
    _, _, said, code = extract(place, EXAMPLE, "--agent", "hal")
    assert (code, "no agent is called hal; known are: claude-code codex" in said) == (2, True)


def test_a_line_of_twenty_megabytes_is_left_out_and_said(place: Place) -> None:
    (source,) = EXAMPLE.rglob("5d0f6c1e*.jsonl")
    first, *rest = source.read_bytes().splitlines(keepends=True)
    path = place.home / source.name
    path.write_bytes(first + b'{"type":"attachment","text":"' + b"x" * 20_000_000 + b'"}\n' + b"".join(rest))
    runs, _, said, code = extract(place, path)
    assert [run["outcome"] for run in runs] == ["saved"]
    assert f"{path}: 1 line of 20,000,032 bytes left out" in said
    assert code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="another owner needs root")
def test_a_memory_directory_of_somebody_else_is_refused(place: Place) -> None:
    theirs = place.home / "theirs"
    theirs.mkdir(0o700)
    os.chown(theirs, 12345, 12345)
    place.environ["EXTRACTORD_MEMORY__DIR"] = str(theirs)
    _, _, said, code = extract(place, EXAMPLE)
    assert (code, "belongs to somebody else" in said, list(theirs.iterdir())) == (78, True, [])


def test_a_memory_directory_that_cannot_be_trusted_is_refused_untouched(place: Place) -> None:
    wide, real, other = place.home / "wide", place.home / "real", place.home / "other"
    for folder in (wide, real, other):
        folder.mkdir(0o700)
    wide.chmod(0o777)
    (place.home / "link").symlink_to(real)
    (other / ".extractord").write_text("0123456789abcdef0123456789abcdef\n")
    for folder, blamed, sentence in (
        (wide, 78, "others may write in it; run `chmod go-w` on it"),
        (place.home / "link", 78, "is a symbolic link; name the directory that it leads to"),
        (other, 1, "a memory directory has one ledger; run `extractord project adopt`"),
    ):
        place.environ["EXTRACTORD_MEMORY__DIR"] = str(folder)
        _, _, said, code = extract(place, EXAMPLE)
        assert (code, sentence in said) == (blamed, True), said
    assert list(real.iterdir()) == []


def call(tool: str, **arguments: object) -> tuple[str, str]:
    return tool, json.dumps(arguments)


def remembers(body: Mapping[str, Any], _before: int) -> Any:
    """A model that does as it should: one Write with its quote, and Finish in the same reply."""
    brief = "".join(str(message["content"]) for message in body["messages"])
    label = next(line for line in brief.splitlines() if line.startswith("[e") and " user " in line)[
        1:
    ].split()[0]
    said = brief[brief.index(f"[{label} ") :].splitlines()[1]
    text = f"---\nname: noted\ndescription: {said}\ntype: project\n---\n{said}\n"
    evidence = [{"entry": label, "quote": said}]
    return openai_reply(
        calls=(
            call("Write", file_path="/memory/project/noted.md", content=text, evidence=evidence),
            call("Finish"),
        )
    )


def through(place: Place, standin: StandIn) -> None:
    place.environ |= {
        "EXTRACTORD_MODEL__NAME": "openai/stand-in",
        "EXTRACTORD_MODEL__BASE_URL": f"{standin.url}/v1",
        "EXTRACTORD_MODEL__RETRIES": "0",
        "OPENAI_API_KEY": "sk-stand-in",
    }


async def run_against(place: Place, script: Any, path: Path) -> tuple[StandIn, Any]:
    async with serving(script) as standin:
        through(place, standin)
        return standin, await asyncio.to_thread(extract, place, path)


async def test_a_provider_s_model_writes_over_http_and_its_request_is_counted(place: Place) -> None:
    (path,) = EXAMPLE.rglob("5d0f6c1e*.jsonl")
    standin, (runs, _, said, code) = await run_against(place, remembers, path)
    assert (code, [run["outcome"] for run in runs]) == (0, ["saved"]), said
    assert (runs[0]["requests"], runs[0]["tokens"]) == (1, {"prompt": 100, "completion": 20})
    assert runs[0]["written"] == ["/memory/project/noted.md"]
    assert [tool["function"]["name"] for tool in standin.bodies[0]["tools"]] == [
        "Read",
        "Grep",
        "Glob",
        "Write",
        "Edit",
        "Bash",
        "Finish",
    ]


async def test_a_wrong_key_stops_spending_and_loses_nothing(place: Place) -> None:
    (path,) = EXAMPLE.rglob("5d0f6c1e*.jsonl")

    def refuse(_body: Mapping[str, Any], _before: int) -> Any:
        return web.json_response({"error": {"message": "Incorrect API key provided"}}, status=401)

    _, (runs, summary, _, code) = await run_against(place, refuse, path)
    assert (code, [run["outcome"] for run in runs], summary["failed"]) == (1, ["deferred"], 1)
    assert "Incorrect API key" in runs[0]["reason"]
    assert "sk-stand-in" not in json.dumps(runs)
    _, (runs, _, _, _) = await run_against(place, remembers, path)
    assert [run["outcome"] for run in runs] == ["saved"]


async def test_a_claim_without_a_call_is_no_save_and_the_exchange_stays_open(place: Place) -> None:
    (path,) = EXAMPLE.rglob("5d0f6c1e*.jsonl")

    def pretend(_body: Mapping[str, Any], _before: int) -> Any:
        return openai_reply("I have saved the memory to /memory/project/deploys.md.")

    standin, (runs, _, _, code) = await run_against(place, pretend, path)
    assert (code, runs[0]["outcome"], runs[0]["reason"], runs[0]["requests"]) == (1, "failed", "no_call", 2)
    assert [name for name in files(place) if "MEMORY" not in name] == []
    assert len(standin.bodies) == 2
