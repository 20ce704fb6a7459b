"""How survey and index grow with the number of memories, and what the disk alone would take."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from extractord.cli.perf.rows import TIMES, Conditions, Row, at_most
from extractord.cli.perf.timing import interleaved
from extractord.config import Settings
from extractord.edges.store import Store
from extractord.storeroom import storeroom, to_stderr

GROUP = "index"
_FEW, _MANY = 1_000, 10_000
_QUICK_FEW, _QUICK_MANY = 100, 1_000
_ROUNDS, _QUICK_ROUNDS = 9, 5
_GROWTH, _BARE = 12.0, 4.0
_FOLDER_OF = 100
_ROOTS = {"few": "projects/few-0123456789abcdef", "many": "projects/many-0123456789abcdef"}


def measure(conditions: Conditions) -> Sequence[Row]:
    """Change one memory by hand and have the store notice it: a survey, the ledger, the index on disk."""
    few, many = (_QUICK_FEW, _QUICK_MANY) if conditions.quick else (_FEW, _MANY)
    settings = Settings(data_dir=conditions.folder / "share", state_dir=conditions.folder / "state")
    with storeroom(settings, to_stderr) as room:
        roots = {name: settings.memory_dir / root for name, root in _ROOTS.items()}
        for name, count in (("few", few), ("many", many)):
            fill(roots[name], count)
            room.store.notice([_ROOTS[name]])
        taken = interleaved(
            {
                "few": _noticing(room.store, "few", roots["few"]),
                "bare": _bare(roots["many"]),
                "many": _noticing(room.store, "many", roots["many"]),
            },
            _QUICK_ROUNDS if conditions.quick else _ROUNDS,
        )
    times = ", ".join(
        f"{way} {one.wall * 1000:.1f} ms ({one.cpu * 1000:.1f} of the processor)"
        for way, one in taken.items()
    )
    name = f"{many:,} memories, survey and index after a change"
    bare = "a bare scandir, stat and index write"
    return [
        at_most(
            GROUP,
            name,
            taken["many"].wall / taken["few"].wall,
            _GROWTH,
            TIMES,
            f"the same with {few:,}",
            times,
        ),
        at_most(GROUP, name, taken["many"].wall / taken["bare"].wall, _BARE, TIMES, bare, times),
    ]


def fill(root: Path, count: int, *, written_s_ago: float = 0) -> None:
    """Given a root that is not there yet, make it with so many memories, written by hand a while ago."""
    root.mkdir(parents=True, mode=0o700)
    then = time.time() - written_s_ago
    for number in range(count):
        folder = root / f"part-{number // _FOLDER_OF}"
        folder.mkdir(exist_ok=True, mode=0o700)
        file = folder / f"fact-{number}.md"
        file.write_text(_memory(number, "first"))
        os.utime(file, (then, then))


def _memory(number: int, said: str) -> str:
    description = f"Part {number} is built as the {said} plan says, since its drawing is older"
    front = f"name: fact-{number}\ndescription: {description}\nmetadata:\n  type: project"
    return f"---\n{front}\n---\n{description}.\n"


def _noticing(store: Store, name: str, root: Path) -> Callable[[], None]:
    def notice() -> None:
        (root / "part-0" / "fact-7.md").write_text(_memory(7, f"plan {secrets.token_hex(4)}"))
        store.notice([_ROOTS[name]])

    return notice


def _bare(root: Path) -> Callable[[], None]:
    """Look at every file, and write an index of the same size as durably."""

    def look() -> None:
        lines, waiting = [], [root]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    elif entry.name.endswith(".md"):
                        size = entry.stat(follow_symlinks=False).st_size
                        lines.append(
                            f"- [{entry.name}]({entry.path}) — {'as long as a hook is':<60} {size}\n"
                        )
        temporary = root / ".bare"
        with temporary.open("w") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(root / ".bare-index")

    return look
