"""A Codex thread as long as one wants, in the proportions of real ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from extractord.cli.perf.prose import Length, Prose

_PROMPT = Length(120, 500, 8_000)
_COMMENT = Length(60, 150, 900)
_ANSWER = Length(190, 700, 4_000)
_THOUGHT = Length(1_400, 3_600, 9_000)
_COMMAND = Length(60, 150, 1_500)
_OUTPUT = Length(500, 11_500, 45_000)
_CONTEXT = Length(2_800, 10_000, 20_000)
_INSTRUCTIONS = Length(20_000, 21_000, 29_000)
"""How many characters those texts had in threads of versions 0.130 to 0.171."""
_STATE = Length(15_000, 17_000, 19_000)
_SHORT_EVERY = 10
_RESUMED_EVERY = 2
_STATED_EVERY = 5

Fields = Mapping[str, object]


class Thread:
    """Records in the order in which the program writes them."""

    def __init__(self, seed: int, cwd: str) -> None:
        """Begin; the same seed gives the same thread."""
        self._prose = Prose(seed)
        self.id = self._prose.uuid()
        self._cwd = cwd
        self._now = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)

    def lines(self, size: int) -> Iterator[bytes]:
        """Yield lines with their newlines until `size` bytes are reached, whole exchanges only."""
        written = number = 0
        records = self._begin()
        while True:
            for record in records:
                line = msgspec.json.encode(record) + b"\n"
                written += len(line)
                yield line
            if written >= size:
                return
            records = self._exchange(number)
            number += 1

    def _begin(self) -> Iterator[Fields]:
        meta: Fields = {
            "id": self.id,
            "timestamp": self._time(),
            "cwd": self._cwd,
            "originator": "codex-tui",
            "cli_version": "0.171.0",
            "source": "cli",
            "model_provider": "openai",
            "base_instructions": {"text": self._prose.text(_INSTRUCTIONS)},
            "git": {"branch": "main"},
        }
        yield self._row("session_meta", meta)

    def _exchange(self, number: int) -> Iterator[Fields]:
        prose = self._prose
        prompt = "ok thanks" if number % _SHORT_EVERY == _SHORT_EVERY - 1 else prose.paragraph(_PROMPT)
        answer, turn = prose.text(_ANSWER), prose.uuid()
        yield self._event("task_started", {"turn_id": turn, "model_context_window": 258_400})
        if number % _RESUMED_EVERY == 0:
            yield self._message("developer", "input_text", prose.text(_INSTRUCTIONS))
            yield self._message("user", "input_text", f"# AGENTS.md instructions\n{prose.text(_CONTEXT)}")
        context = {
            "turn_id": turn,
            "cwd": self._cwd,
            "model": "gpt-5.5",
            "user_instructions": prose.text(_CONTEXT),
        }
        yield self._row("turn_context", context)
        yield self._message("user", "input_text", prompt)
        yield self._event("user_message", {"message": prompt, "images": [], "text_elements": []})
        if number % _STATED_EVERY == 0:
            yield self._row("world_state", {"state": prose.text(_STATE)})
        for _ in range(prose.chance.choice((0, 1, 2, 3, 4, 6))):
            if prose.chance.random() < 1 / 3:
                yield from self._said(prose.text(_COMMENT), "commentary")
            yield from self._tool(turn)
        yield from self._said(answer, "final_answer")
        yield self._tokens()
        yield self._event(
            "task_complete", {"turn_id": turn, "last_agent_message": answer, "duration_ms": 27_020}
        )

    def _tool(self, turn: str) -> Iterator[Fields]:
        prose = self._prose
        call, output = f"call_{prose.uuid()}", prose.text(_OUTPUT)
        if prose.chance.random() < 1 / 3:
            yield self._row(
                "response_item",
                {"type": "reasoning", "summary": [], "encrypted_content": prose.text(_THOUGHT)},
            )
        asked = msgspec.json.encode({"cmd": prose.text(_COMMAND), "workdir": self._cwd}).decode()
        called = {"type": "function_call", "name": "exec_command", "arguments": asked, "call_id": call}
        yield self._row("response_item", called)
        if prose.chance.random() < 1 / 2:
            ended = {
                "call_id": call,
                "turn_id": turn,
                "exit_code": 0,
                "aggregated_output": output,
                "status": "completed",
            }
            yield self._event("exec_command_end", ended)
        yield self._row("response_item", {"type": "function_call_output", "call_id": call, "output": output})
        yield self._tokens()

    def _said(self, text: str, phase: str) -> Iterator[Fields]:
        yield self._event("agent_message", {"message": text, "phase": phase})
        yield self._message("assistant", "output_text", text)

    def _tokens(self) -> Fields:
        usage = {"input_tokens": 5273, "cached_input_tokens": 0, "output_tokens": 20, "total_tokens": 5293}
        window = {"used_percent": 6.0, "window_minutes": 300, "resets_at": 1_779_585_184}
        limits = {
            "limit_id": "codex",
            "primary": window,
            "secondary": window,
            "credits": None,
            "plan_type": "plus",
        }
        counted = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 258_400}
        return self._event("token_count", {"info": counted, "rate_limits": limits})

    def _message(self, role: str, kind: str, text: str) -> Fields:
        content = [{"type": kind, "text": text}]
        return self._row("response_item", {"type": "message", "role": role, "content": content})

    def _event(self, kind: str, fields: Fields) -> Fields:
        return self._row("event_msg", {"type": kind, **fields})

    def _row(self, kind: str, payload: Fields) -> Fields:
        return {"timestamp": self._time(), "type": kind, "payload": payload}

    def _time(self) -> str:
        self._now += timedelta(milliseconds=731)
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_thread(folder: Path, size: int, *, seed: int = 2) -> Path:
    """Given a folder, leave a thread of about `size` bytes in it; return its path."""
    thread = Thread(seed, "/home/dev/shop")
    path = folder / f"rollout-2026-01-05T09-00-00-{thread.id}.jsonl"
    with path.open("wb") as file:
        file.writelines(thread.lines(size))
    return path
