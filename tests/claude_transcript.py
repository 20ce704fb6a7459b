"""Sessions of Claude Code as it writes them: prompts, replies, tools, and memory that a hook injected."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2030, 1, 1, tzinfo=UTC)


class Session:
    """One transcript below a home; every line comes a second after the last."""

    def __init__(self, home: Path, name: str, cwd: Path, *, start: datetime = _START) -> None:
        self.name, self.cwd, self._at = name, cwd, start
        self._path = home / f".claude/projects/-shop/{name}.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._last: str | None = None
        self._lines = 0

    def told(self, block: str) -> None:
        """What a session-start hook gave."""
        hook = {"type": "hook_additional_context", "content": [block], "hookName": "SessionStart"}
        self._write("attachment", attachment=hook)

    def asks(self, words: str) -> None:
        """A person's prompt."""
        self._write("user", message={"role": "user", "content": words}, promptSource="typed")

    def says(self, words: str) -> None:
        """The agent's reply, which ends its turn."""
        self._answer({"type": "text", "text": words}, "end_turn")

    def uses(self, tool: str, answer: str, **asked: Any) -> None:
        """A call of one of the agent's tools, and what came of it."""
        call = f"toolu_{self.name}_{self._lines}"
        self._answer({"type": "tool_use", "id": call, "name": tool, "input": asked}, "tool_use")
        result = {"type": "tool_result", "tool_use_id": call, "content": answer}
        self._write("user", message={"role": "user", "content": [result]})

    def _answer(self, block: dict[str, Any], stop: str) -> None:
        self._write(
            "assistant",
            message={"role": "assistant", "model": "m", "content": [block], "stop_reason": stop},
        )

    def _write(self, kind: str, **more: object) -> None:
        self._lines += 1
        self._at += timedelta(seconds=1)
        ident = f"{self.name}-{self._lines}"
        record = {
            "parentUuid": self._last,
            "isSidechain": False,
            "type": kind,
            "uuid": ident,
            "timestamp": self._at.isoformat().replace("+00:00", "Z"),
            "cwd": str(self.cwd),
            "sessionId": self.name,
            "version": "2.1.332",
            **more,
        }
        self._last = ident
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")
