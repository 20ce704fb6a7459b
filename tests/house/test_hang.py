"""A model that never answers: the run ends on its wall clock, is counted, and nothing stays behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from standin import serving

EXAMPLE = Path(__file__).parents[2] / "docs/example"
RUN_S = 4


def never(_body: Mapping[str, Any], _before: int) -> str:
    return "never"


def commands() -> list[str]:
    """The command lines of all processes that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.append(path.read_bytes().decode(errors="replace"))
    return found


async def test_a_model_that_never_answers_is_failed_timeout(tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    async with serving(never) as standin:
        environ = {
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
            "EXTRACTORD_CONFIG": str(tmp_path / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(tmp_path / "data"),
            "EXTRACTORD_STATE_DIR": str(tmp_path / "state"),
            "EXTRACTORD_MODEL__NAME": "openai/stand-in",
            "EXTRACTORD_MODEL__BASE_URL": standin.url,
            "EXTRACTORD_BUDGET__RUN_S": str(RUN_S),
            "EXTRACTORD_RUN__CONCURRENCY": "4",
            "OPENAI_API_KEY": "k",
        }
        began = time.monotonic()
        ran = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "extractord", "extract", str(EXAMPLE), "--json"),
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        said, log = await asyncio.wait_for(ran.communicate(), 90)
        took = time.monotonic() - began
    rows = [json.loads(line) for line in said.splitlines()]
    runs = [row for row in rows if "run" in row]
    assert runs, log.decode()
    assert {(row["outcome"], row["reason"]) for row in runs} <= {("failed", "timeout"), ("parked", "timeout")}
    assert took < 60
    assert all(row["requests"] >= 1 for row in runs)
    assert [command for command in commands() if standin.url in command] == []
    assert b"Tuesday" not in log
