"""The worker that looks for secrets."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import pytest

from extractord.edges.redaction import Redaction
from extractord.errors import ExtractordError
from extractord.policy.secret import find_secrets

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
async def redaction() -> AsyncIterator[Redaction]:
    worker = Redaction()
    yield worker
    await worker.close()


async def test_the_worker_finds_what_the_pattern_finds(redaction: Redaction) -> None:
    texts = ("nothing", f"key {SECRET}", "", "half a pair \ud800")
    assert await redaction.find(texts) == tuple(map(find_secrets, texts))
    assert (await redaction.redact(texts))[1].startswith("key [redacted: ")


async def test_a_worker_that_died_is_started_again(redaction: Redaction) -> None:
    await redaction.start()
    worker = redaction._worker
    assert worker is not None
    worker.kill()
    assert await redaction.redact(["fine"]) == ("fine",)


async def test_an_interrupt_at_the_terminal_is_not_the_worker_s(redaction: Redaction) -> None:
    await redaction.start()
    worker = redaction._worker
    assert worker is not None
    assert (os.getpgid(worker.pid), os.getpgid(worker.pid) == os.getpgid(0)) == (worker.pid, False)


async def test_the_loop_goes_on_meanwhile(redaction: Redaction) -> None:
    await redaction.start()
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.005)
            beats += 1

    pulse = asyncio.create_task(beat())
    await redaction.redact([f"a line of text with {SECRET} and more of it\n" * 4_000])
    pulse.cancel()
    assert beats > 3


async def test_the_answer_to_a_search_that_was_given_up_is_not_the_next_ones(redaction: Redaction) -> None:
    await redaction.start()
    given_up = asyncio.create_task(redaction.find(["a line of text and more of it\n" * 2_000]))
    await asyncio.sleep(0)  # it has asked
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert await redaction.redact([f"key {SECRET}"]) != (f"key {SECRET}",)


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "import time; time.sleep(60)"])
async def test_without_an_answer_nothing_leaves(code: str) -> None:
    redaction = Redaction((sys.executable, "-c", code), search_s=0.5)
    with pytest.raises(ExtractordError, match="secrets cannot be looked for"):
        await redaction.redact([SECRET])
    await redaction.close()
