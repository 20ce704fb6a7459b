"""The signals that ask a process to end, or to reread."""

from __future__ import annotations

import signal
import subprocess
import sys

CODE = """
import asyncio, sys
from extractord.edges.signals import signalled

async def main():
    with signalled() as asked:
        print("in", flush=True)
        await asked.stop.wait()
    print("out", flush=True)
    sys.stdin.readline()

asyncio.run(main())
print("ended", flush=True)
sys.stdin.readline()
print("in order", flush=True)
"""


def test_one_that_comes_when_its_end_is_settled_changes_nothing() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as ending:
        assert ending.stdin is not None
        assert ending.stdout is not None
        assert ending.stdout.readline() == "in\n"
        ending.send_signal(signal.SIGTERM)
        for line in ("out\n", "ended\n"):
            assert ending.stdout.readline() == line
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                ending.send_signal(number)
            ending.stdin.write("\n")
            ending.stdin.flush()
        assert ending.stdout.read() == "in order\n"
    assert ending.returncode == 0
