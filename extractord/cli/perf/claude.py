"""A Claude Code session as long as one wants, in the proportions of real ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from extractord.cli.perf.prose import Length, Prose

_PROMPT = Length(120, 500, 8_000)
_THOUGHT = Length(800, 4_500, 40_000)
_ANSWER = Length(250, 500, 15_000)
_COMMAND = Length(120, 450, 15_000)
_OUTPUT = Length(400, 5_000, 30_000)
_SKILLS = Length(6_500, 6_600, 8_000)
_SNAPSHOT = Length(109_000, 113_000, 114_000)
_OPENING = Length(28_700, 29_200, 30_000)
_SHAPE = Length(70_000, 72_000, 75_000)
_BLOB = Length(250, 450, 13_000)
_TOOLS = Length(900, 1_200, 1_400)
"""How many characters those texts had in sessions of versions 2.1.90 to 2.1.332."""
_SHORT_EVERY = 10
_LISTED_EVERY = 4
_STARTED_EVERY = 16
_VERSION = "2.1.332"


class Session:
    """Records in the order, and with the order of keys, in which the program writes them."""

    def __init__(self, seed: int, cwd: str) -> None:
        """Begin; the same seed gives the same session."""
        self._prose = Prose(seed)
        self.id = self._prose.uuid()
        self._cwd = cwd
        self._parent: str | None = None
        self._now = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)

    def lines(self, size: int) -> Iterator[bytes]:
        """Yield lines with their newlines until `size` bytes are reached, whole exchanges only."""
        written = number = 0
        while written < size:
            for record in self.exchange(number):
                line = msgspec.json.encode(record) + b"\n"
                written += len(line)
                yield line
            number += 1

    def exchange(self, number: int, prompt: str | None = None) -> Iterator[dict[str, object]]:
        """Yield the records of one prompt and all that follows."""
        prose = self._prose
        if prompt is None:
            prompt = "ok thanks" if number % _SHORT_EVERY == _SHORT_EVERY - 1 else prose.paragraph(_PROMPT)
        yield {"type": "permission-mode", "permissionMode": "default", "sessionId": self.id}
        yield self._snapshot_of_files()
        yield self._row(
            "user", {"promptId": prose.uuid(), "type": "user"}, {"role": "user", "content": prompt}
        )
        if number % _LISTED_EVERY == 0:
            yield self._attached(
                {"type": "deferred_tools_delta", "addedLines": [prose.text(_TOOLS)]}, prose.text(_TOOLS)
            )
            listing = prose.text(_SKILLS)
            yield self._attached({"type": "skill_listing", "content": listing, "skillCount": 13}, listing)
        if number % _STARTED_EVERY == 0:
            yield from self._start()
        yield self._attached(
            {"type": "total_tokens_reminder", "text": "<total_tokens>150000 tokens left</total_tokens>"}
        )
        for _ in range(prose.chance.choice((0, 1, 2, 2, 3, 6))):
            yield from self._request()
            if prose.chance.random() < 1 / 3:
                yield self._said(
                    {"type": "thinking", "thinking": "", "signature": prose.text(_THOUGHT)}, "tool_use"
                )
            yield from self._tool()
        yield from self._request()
        yield self._said({"type": "text", "text": prose.text(_ANSWER)}, "end_turn")
        yield self._row(
            "system", {"type": "system", "subtype": "turn_duration", "durationMs": 134, "messageCount": 14}
        )
        yield {
            "type": "last-prompt",
            "lastPrompt": prompt[:200],
            "leafUuid": self._parent,
            "sessionId": self.id,
        }

    def _start(self) -> Iterator[dict[str, object]]:
        """What is written when a session starts, is resumed, or was compacted."""
        for length in (_OPENING, _SNAPSHOT):
            prompt = ["You help.", self._prose.text(length)]
            yield self._attached({"type": "prompt_snapshot", "systemPrompt": prompt, "reminderFold": False})
        text = self._prose.text(_SHAPE)
        tools = [
            {"name": f"Tool{at}", "description": text[at : at + 3_500], "input_schema": {"type": "object"}}
            for at in range(0, len(text), 3_500)
        ]
        yield self._bookkept("api-request-shape", {"shape": {"system": [], "tools": tools}})

    def _request(self) -> Iterator[dict[str, object]]:
        """What is kept of each request to the model."""
        shape, model = self._prose.uuid(), {"model": "claude-sonnet-4-6", "max_tokens": 32_000}
        yield self._bookkept("api-request-blob", {"hash": shape, "value": self._prose.text(_BLOB)})
        yield self._bookkept(
            "api-request", {"id": shape, "params": model, "tail": [self._prose.uuid() for _ in range(20)]}
        )

    def _bookkept(self, kind: str, fields: Mapping[str, object]) -> dict[str, object]:
        return {"type": kind, "sessionId": self.id, "timestamp": self._time(), "version": _VERSION, **fields}

    def _tool(self) -> Iterator[dict[str, object]]:
        prose = self._prose
        call = f"toolu_{prose.uuid()[:16]}"
        if prose.chance.random() < 1 / 2:
            asked: dict[str, object] = {"command": prose.text(_COMMAND), "description": "run a command"}
            name = "Bash"
        else:
            asked = {
                "file_path": f"{self._cwd}/src/{prose.uuid()[:8]}.py",
                "old_string": prose.text(_COMMAND),
            }
            name = "Edit"
        yield self._said({"type": "tool_use", "id": call, "name": name, "input": asked}, "tool_use")
        output = prose.text(_OUTPUT)
        result = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}
        noted = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        yield self._row(
            "user",
            {"promptId": prose.uuid(), "type": "user"},
            {"role": "user", "content": [result]},
            noted={"toolUseResult": noted, "sourceToolAssistantUUID": self._parent},
        )

    def _said(self, block: dict[str, object], stop: str) -> dict[str, object]:
        usage = {
            "input_tokens": 2904,
            "cache_creation_input_tokens": 8244,
            "cache_read_input_tokens": 12753,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 8244},
            "output_tokens": 20,
            "service_tier": "standard",
            "inference_geo": "not_available",
        }
        message = {
            "model": "claude-sonnet-4-6",
            "id": f"msg_{self._prose.uuid()}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }
        return self._row(
            "assistant", {}, message, {"requestId": f"req_{self._prose.uuid()}", "type": "assistant"}
        )

    def _attached(self, attachment: dict[str, object], rendered: str | None = None) -> dict[str, object]:
        row = self._row("attachment", {"attachment": attachment, "type": "attachment"})
        if rendered is not None:
            row["rendered"] = [{"content": rendered}]
        return row

    def _snapshot_of_files(self) -> dict[str, object]:
        message = self._prose.uuid()
        snapshot = {"messageId": message, "trackedFileBackups": {}, "timestamp": self._time()}
        return {
            "type": "file-history-snapshot",
            "messageId": message,
            "snapshot": snapshot,
            "isSnapshotUpdate": False,
        }

    def _row(
        self,
        kind: str,
        first: Mapping[str, object],
        message: Mapping[str, object] | None = None,
        after: Mapping[str, object] | None = None,
        *,
        noted: Mapping[str, object] | None = None,
    ) -> dict[str, object]:
        above, self._parent = self._parent, self._prose.uuid()
        row: dict[str, object] = {"parentUuid": above, "isSidechain": False, **first}
        if message is not None:
            row["message"] = message
        row.update(after or {})
        row |= {"uuid": self._parent, "timestamp": self._time()}
        if noted is not None:
            row |= noted
        elif kind == "user":
            row |= {"permissionMode": "default", "promptSource": "typed"}
        return row | {
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self._cwd,
            "sessionId": self.id,
            "version": _VERSION,
            "gitBranch": "main",
        }

    def _time(self) -> str:
        self._now += timedelta(milliseconds=731)
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_session(path: Path, size: int, *, seed: int = 1) -> None:
    """Given a path below a folder that is there, leave a session of about `size` bytes."""
    with path.open("wb") as file:
        file.writelines(Session(seed, "/home/dev/shop").lines(size))
