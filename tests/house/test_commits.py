"""The short form of `tests/storming.py`."""

from pathlib import Path

from storming import storm


def test_processes_that_commit_at_once_lose_nothing_and_tear_nothing(tmp_path: Path) -> None:
    figures = storm(tmp_path / "me", 5.0, processes=8)
    assert figures["saved"]
    assert figures["edits by hand"]
