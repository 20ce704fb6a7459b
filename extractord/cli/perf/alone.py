"""A process of its own for what is measured: it prints one JSON value, and may give up any right."""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
from pathlib import Path

import msgspec

from extractord.cli.perf.groups import GROUPS, QUICK
from extractord.cli.perf.reading import read
from extractord.cli.perf.rows import Conditions
from extractord.core.transcripts import claude_code
from extractord.edges.confine import confine_child

_FORKS = 21
_KIB = 1024
_ANSWER_BYTES = 64


def main(what: str, *arguments: str) -> None:
    """Measure the one thing that is named."""
    match what, arguments:
        case "group", (name, folder, size):
            rows = GROUPS[name](Conditions(folder=Path(folder), quick=size == QUICK))
            print(msgspec.json.encode(rows).decode())
        case "peak", (small, large):
            print(msgspec.json.encode(_peak(Path(small), Path(large))).decode())
        case "confine", (root,):
            print(msgspec.json.encode(_confine(root)).decode())
        case _:
            raise SystemExit(f"there is no measure {what} of {len(arguments)} arguments")


def _peak(small: Path, large: Path) -> tuple[int, int, int]:
    """The peak of resident bytes after a small transcript, then after a large one, and its exchanges."""
    read(claude_code.SOURCE, small)
    before = _peak_bytes()
    found = read(claude_code.SOURCE, large)
    return before, _peak_bytes(), found


def _peak_bytes() -> int:
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status = Path("/proc/self/status").read_text(encoding="ascii")  # ru_maxrss would include the parent's
    return int(status.partition("VmHWM:")[2].split()[0]) * _KIB


def _confine(root: str) -> float:
    """The median of what confinement takes in children that are forked as a run's are, in s."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    taken = []
    for _ in range(_FORKS):
        from_child, to_parent = os.pipe()
        pid = os.fork()
        if pid == 0:
            began = time.perf_counter()
            confine_child([fd], [to_parent])
            os.write(to_parent, repr(time.perf_counter() - began).encode())
            os._exit(0)
        os.close(to_parent)
        answer = os.read(from_child, _ANSWER_BYTES)
        os.close(from_child)
        os.waitpid(pid, 0)
        taken.append(float(answer))
    return statistics.median(taken)


if __name__ == "__main__":
    main(*sys.argv[1:])
