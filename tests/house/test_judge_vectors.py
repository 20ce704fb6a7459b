"""The shared vectors, on a real disk, through the same question that `judge` asks."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import msgspec
import pytest

from extractord.cli.judge import Roots, Row, Tool

VECTORS = Path(__file__).parents[2].parent / "shared" / "vectors"
NAMES = ("paths.jsonl", "rm.jsonl")

pytestmark = pytest.mark.skipif(not VECTORS.is_dir(), reason="needs ../shared/vectors")


def rows(name: str) -> list[dict[str, object]]:
    file = VECTORS / name
    return [json.loads(line) for line in file.read_text().split("\n") if line] if file.exists() else []


def fill(text: str, root: Path, outside: Path) -> str:
    for word, value in {
        "{rootname}": root.name,
        "{root_swapcase}": str(root).swapcase(),
        "{root}": str(root),
        "{parent}": str(root.parent),
        "{outside}": str(outside),
    }.items():
        text = text.replace(word, value)
    return text


def stage(step: list[object], root: Path, outside: Path) -> None:
    """Put one step of a vector's set-up on the disk."""
    kind, place = step[0], root / str(step[1])
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    match kind:
        case "file":
            place.write_text("x")
        case "dir":
            place.mkdir(mode=0o700)
        case "symlink":
            place.symlink_to(fill(str(step[2]), root, outside))
        case "hardlink":
            place.hardlink_to(fill(str(step[2]), root, outside))
        case "fifo":
            os.mkfifo(place)
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(place))
        case "mknod_null":
            os.mknod(place, 0o020600, os.makedev(1, 3))
        case "chown":
            os.chown(place, int(str(step[2])), -1)
        case _:
            raise AssertionError(kind)


def place_file(path: str, root: Path) -> None:
    """Let a file be there, where the path is one that a disk can have below the root."""
    try:
        place = Path(path)
        if place.is_relative_to(root) and ".." not in place.parts:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.write_text("x")
    except (OSError, ValueError):
        pass


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    root, outside = tmp_path / "memory", tmp_path / "outside"
    root.mkdir(mode=0o700)
    outside.mkdir(mode=0o700)
    (outside / "victim.md").write_text("x")
    return root, outside


@pytest.mark.parametrize("row", rows("paths.jsonl"), ids=lambda row: f"{row['id']}-{row['kind']}")
def test_path(row: dict[str, object], roots: tuple[Path, Path]) -> None:
    if row.get("requires") == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    root, outside = roots
    setup = row.get("setup")
    path = fill(str(row["input"]), root, outside)
    for step in setup if isinstance(setup, list) else ():
        stage(step, root, outside)
    if row["op"] == "delete" and not setup:
        place_file(path, root)
    tool: Tool = "Remove" if row["op"] == "delete" else "Write"
    answer = Roots(Path("/nowhere")).judge(Row(tool=tool, file_path=path), root)
    assert answer.verdict == row["expect"], (ascii(path), row["reason"], answer)


@pytest.mark.parametrize("row", rows("rm.jsonl"), ids=lambda row: f"{row['id']}-{row['kind']}")
def test_rm(row: dict[str, object], roots: tuple[Path, Path]) -> None:
    root, outside = roots
    command = fill(str(row["input"]), root, outside)
    if row["expect"] == "allow":
        bash = row["bash"]
        assert isinstance(bash, dict)
        for call in bash["rm_calls"]:
            for word in call:
                place_file(fill(word, root, outside), root)
    line = msgspec.json.encode({"tool": "Bash", "command": command}) if command.isprintable() else None
    asked = Roots(Path("/nowhere"))
    answer = asked.answer(line, root) if line else asked.judge(Row(tool="Bash", command=command), root)
    assert answer.verdict == row["expect"], (ascii(command), row["reason"], answer)
