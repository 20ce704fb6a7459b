"""What one process leaves, another takes up: claims of the dead, runs to be tried again, a busy ledger."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from standin import StandIn, openai_reply, serving
from warm import typed

EXTRACTORD = [sys.executable, "-m", "extractord"]
SESSION = "0a0b0c0d-0000-4000-8000-000000000001"
TUESDAY = "We deploy only on Tuesdays because the warehouse counts stock on Mondays."


def lines(text: str) -> bytes:
    common = {"sessionId": SESSION, "cwd": "/home/dev/shop", "version": "2.1.332"}
    prompt = {
        **common,
        "type": "user",
        "uuid": "u1",
        "timestamp": "2026-11-30T10:00:00.000Z",
        "promptSource": "typed",
        "message": {"role": "user", "content": text},
    }
    answer = {
        **common,
        "type": "assistant",
        "uuid": "u2",
        "parentUuid": "u1",
        "timestamp": "2026-11-30T10:00:01.000Z",
        "message": {
            "id": "m",
            "role": "assistant",
            "content": [{"type": "text", "text": "Noted."}],
            "stop_reason": "end_turn",
        },
    }
    return b"".join(json.dumps(record).encode() + b"\n" for record in (prompt, answer))


def remembers(body: Mapping[str, Any], _before: int) -> Any:
    brief = "".join(str(message["content"]) for message in body["messages"])
    label = next(line for line in brief.splitlines() if line.startswith("[e"))[1:].split()[0]
    text = f"---\nname: tuesdays\ndescription: {TUESDAY}\ntype: project\n---\n{TUESDAY}\n"
    evidence = [{"entry": label, "quote": TUESDAY}]
    written = {"file_path": "/memory/project/tuesdays.md", "content": text, "evidence": evidence}
    return openai_reply(calls=(("Write", json.dumps(written)), ("Finish", "{}")))


def fails(_body: Mapping[str, Any], _before: int) -> Any:
    return web.json_response({"error": {"message": "out of order"}}, status=500)


def never(_body: Mapping[str, Any], _before: int) -> Any:
    return "never"


class Place:
    """A home, and a stand-in model that its processes ask."""

    def __init__(self, home: Path, standin: StandIn) -> None:
        self.home = home
        self.standin = standin
        self.transcript = home / f".claude/projects/-home-dev-shop/{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "EXTRACTORD_DATA_DIR": str(self.home / "data"),
            "EXTRACTORD_STATE_DIR": str(self.home / "state"),
            "EXTRACTORD_MODEL__NAME": "openai/stand-in",
            "EXTRACTORD_MODEL__BASE_URL": f"{self.standin.url}/v1",
            "EXTRACTORD_MODEL__RETRIES": "0",
            "EXTRACTORD_BUDGET__ATTEMPTS": "1",
            "OPENAI_API_KEY": "sk-stand-in",
        }

    async def command(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(typed, arguments, self.environ)

    def started(self, *arguments: object) -> subprocess.Popen[bytes]:
        with (self.home / "log").open("ab") as log:
            return subprocess.Popen(
                [*EXTRACTORD, *map(str, arguments)], env=self.environ, stdout=log, stderr=log
            )

    @contextlib.asynccontextmanager
    async def daemon(self) -> AsyncIterator[subprocess.Popen[bytes]]:
        begun = self.log().count("msg=watching")
        process = self.started("run")
        try:
            await self.until(lambda: self.log().count("msg=watching") > begun)
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            await asyncio.to_thread(process.wait, 120)

    def log(self) -> str:
        path = self.home / "log"
        return path.read_text() if path.exists() else ""

    def is_remembered(self) -> bool:
        return bool(list((self.home / "data/memory").rglob("tuesdays.md")))

    async def until(self, claim: Callable[[], object], seconds: float = 60) -> None:
        begun = time.monotonic()
        while not claim():
            assert time.monotonic() - begun < seconds, self.log()
            await asyncio.sleep(0.05)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with serving(remembers) as standin:
        yield Place(tmp_path, standin)


async def test_the_claim_of_an_extract_that_was_killed_is_taken_up_by_the_daemon(place: Place) -> None:
    async with place.daemon():
        pass
    place.standin.script = never
    place.transcript.write_bytes(lines(TUESDAY))
    extract = place.started("extract", place.transcript)
    await place.until(lambda: place.standin.bodies)
    async with place.daemon():
        place.standin.script = remembers
        extract.kill()
        extract.wait()
        await place.until(place.is_remembered)


async def test_a_parked_run_is_tried_again_from_its_brief_when_its_transcript_is_gone(place: Place) -> None:
    place.standin.script = fails
    place.transcript.write_bytes(lines(TUESDAY))
    rows = (await place.command("extract", place.transcript, "--json")).stdout.splitlines()
    run = json.loads(rows[0])
    assert run["outcome"] == "parked"
    place.transcript.unlink()
    place.standin.script = remembers
    async with place.daemon():
        said = await place.command("runs", "retry", run["run"])
        assert said.returncode == 0, said.stderr
        await place.until(place.is_remembered)


async def test_an_interrupted_extract_gives_its_claim_back_and_counts_no_attempt(place: Place) -> None:
    place.standin.script = never
    place.transcript.write_bytes(lines(TUESDAY))
    for number in (signal.SIGINT, signal.SIGTERM):
        place.standin.bodies.clear()
        extract = place.started("extract", place.transcript)
        await place.until(lambda: place.standin.bodies)
        extract.send_signal(number)
        assert await asyncio.to_thread(extract.wait, 120) == 130
    place.standin.script = remembers
    rows = (await place.command("extract", place.transcript, "--json")).stdout.splitlines()
    assert json.loads(rows[0])["outcome"] == "saved"


async def test_a_ledger_that_is_busy_too_long_ends_the_daemon_in_order_with_a_sentence(place: Place) -> None:
    async with place.daemon() as daemon:
        other = sqlite3.connect(place.home / "state/ledger.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        place.transcript.write_bytes(lines(TUESDAY))
        code = await asyncio.to_thread(daemon.wait, 120)
        other.rollback()
        other.close()
    assert (code, "Traceback" in place.log()) == (1, False)
    assert "msg=stopped" in place.log()
    async with place.daemon():
        await place.until(place.is_remembered)


async def test_a_second_signal_while_it_closes_still_ends_it_clean(place: Place) -> None:
    async with place.daemon() as daemon:
        daemon.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.05)
        if daemon.poll() is None:
            daemon.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(daemon.wait, 120) == 0


async def test_a_prompt_that_has_no_answer_yet_is_left_to_its_agent(place: Place) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    prompt = lines(TUESDAY).splitlines(keepends=True)[0].replace(b"2026-11-30T10:00:00.000Z", now.encode())
    place.transcript.write_bytes(prompt)
    summary = json.loads((await place.command("extract", place.transcript, "--json")).stdout.splitlines()[-1])
    assert summary["runs"] == 0
    place.transcript.write_bytes(prompt + lines(TUESDAY).splitlines(keepends=True)[1])
    summary = json.loads((await place.command("extract", place.transcript, "--json")).stdout.splitlines()[-1])
    assert summary["saved"] == 1


pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
