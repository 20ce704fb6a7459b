"""Documents that grow, and lines without ids: what was there is baseline, what comes is read once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from doubles import MemoryRanges

from extractord.core.gate import GateSettings
from extractord.core.ports import Owner
from extractord.core.records import Project, Window
from extractord.core.transcripts import aider, amp, cline, copilot_cli, cursor, kimi, openai_chat
from extractord.core.transcripts.source import Source
from extractord.reading import Reading

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=6)
OWNER = Owner(pid=1, started=1, boot="b")
Write = Callable[[list[str]], str]


def as_aider(prompts: list[str]) -> str:
    said = "".join(f"\n#### {prompt}  \n\nDone.\n\n> Tokens: 1k sent  \n" for prompt in prompts)
    return f"\n# aider chat started at 2026-11-30 12:00:00\n\n> Aider v0.86.1  \n{said}"


def as_cline(prompts: list[str]) -> str:
    first, *others = [
        f"<task>\n{prompts[0]}\n</task>",
        *(f"<feedback>\n{each}\n</feedback>" for each in prompts[1:]),
    ]
    return json.dumps(
        [
            message
            for text in (first, *others)
            for message in (
                {"role": "user", "content": [{"type": "text", "text": text}]},
                {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
            )
        ]
    )


def as_amp(prompts: list[str]) -> str:
    messages = [
        {"role": role, "messageId": 2 * nth + at, "content": [{"type": "text", "text": text}]}
        for nth, prompt in enumerate(prompts)
        for at, (role, text) in enumerate((("user", prompt), ("assistant", "Done.")))
    ]
    return json.dumps({"id": "T-1", "messages": messages})


def as_cursor(prompts: list[str]) -> str:
    pairs = ((("user", f"<user_query>\n{each}\n</user_query>"), ("assistant", "Done.")) for each in prompts)
    records = (
        {"role": role, "message": {"content": [{"type": "text", "text": text}]}}
        for pair in pairs
        for role, text in pair
    )
    return "".join(json.dumps(each) + "\n" for each in records)


def as_cursor_text(prompts: list[str]) -> str:
    return "".join(f"user:\n<user_query>\n{each}\n</user_query>\n\nassistant:\nDone.\n\n" for each in prompts)


def as_cline_session(prompts: list[str]) -> str:
    inputs = (f'<user_input mode="act">{each}</user_input>' for each in prompts)
    pairs = ((("user", each), ("assistant", "Done.")) for each in inputs)
    messages = [
        {"id": f"m{nth}{role}", "role": role, "content": [{"type": "text", "text": text}]}
        for nth, pair in enumerate(pairs)
        for role, text in pair
    ]
    return json.dumps({"version": 1, "messages": messages}, indent=2)


def as_copilot_history(prompts: list[str]) -> str:
    pairs = ((("user", each), ("copilot", "Done.")) for each in prompts)
    timeline = [
        {"id": f"m{nth}{role}", "type": role, "text": text}
        for nth, pair in enumerate(pairs)
        for role, text in pair
    ]
    return json.dumps({"sessionId": "s1", "startTime": "", "chatMessages": [], "timeline": timeline})


def as_kimi(prompts: list[str]) -> str:
    lines: list[object] = [{"type": "metadata", "protocol_version": "1.4"}]
    for each in prompts:
        parts = [{"type": "text", "text": each}]
        lines += [
            {"type": "turn.prompt", "input": parts, "origin": {"kind": "user"}},
            {"type": "context.append_message", "message": {"role": "user", "content": parts}},
            {"type": "turn.ended"},
        ]
    return "".join(json.dumps(each) + "\n" for each in lines)


def as_chat(prompts: list[str]) -> str:
    pairs = (
        ({"role": "user", "content": each}, {"role": "assistant", "content": "Done."}) for each in prompts
    )
    return "".join(json.dumps(message) + "\n" for pair in pairs for message in pair)


AGENTS: list[tuple[Source, str, Write]] = [
    (aider.SOURCE, ".aider.chat.history.md", as_aider),
    (cline.CLINE, "1/api_conversation_history.json", as_cline),
    (amp.SOURCE, "T-1.json", as_amp),
    (cursor.SOURCE, "shop/agent-transcripts/s1.jsonl", as_cursor),
    (cursor.SOURCE, "shop/agent-transcripts/s1.txt", as_cursor_text),
    (cline.CLINE, "1_a/1_a.messages.json", as_cline_session),
    (copilot_cli.SOURCE, "session_1.json", as_copilot_history),
    (kimi.SOURCE, "wd_shop/session_1/agents/main/wire.jsonl", as_kimi),
    (openai_chat.SOURCE, "chat.jsonl", as_chat),
]


def cold(ranges: MemoryRanges, root: Path) -> Reading:
    return Reading(
        ranges,
        lambda _agent, _session, cwd: Project(slug="shop", identity=cwd, directory=cwd),
        GateSettings(home="/home/dev", memory_roots=("/home/dev/memory",)),
        settle_s=20,
        copy_dir=str(root),
    )


async def come(reading: Reading, source: Source, path: Path) -> list[Window]:
    found = [*await reading.touched(source, str(path), NOW), *await reading.quiet(LATER)]
    newest = {each.session: each for each in found if isinstance(each, Window)}
    return [*newest.values()]


def texts(window: Window) -> list[str]:
    return [exchange.entries[0].text for exchange in window.exchanges]


@pytest.mark.parametrize(("source", "name", "write"), AGENTS, ids=lambda each: getattr(each, "agent", ""))
async def test_what_comes_after_the_baseline_is_read_once_across_restarts(
    tmp_path: Path, source: Source, name: str, write: Write
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    said = ["this was there before us", "and this as well you see"]
    path.write_text(write(said))
    ranges = MemoryRanges()
    assert await cold(ranges, tmp_path).begin(source, str(tmp_path)) == 1
    assert await come(cold(ranges, tmp_path), source, path) == []
    said.append("we deploy only on tuesdays")
    path.write_text(write(said))
    (window,) = await come(cold(ranges, tmp_path), source, path)
    assert texts(window) == said[2:]
    reading = cold(ranges, tmp_path)
    (again,) = await come(reading, source, path)
    assert texts(again) == said[2:]
    keys = [exchange.key for exchange in again.exchanges]
    assert ranges.claim(source.agent, again.session, keys, "run", OWNER, NOW)
    ranges.finish("run", "saved", NOW)
    said.append("we deploy only on tuesdays")
    path.write_text(write(said))
    (last,) = await come(reading, source, path)
    assert texts(last) == said[3:]


def stored(path: Path, prompts: list[str]) -> None:
    """Make the rest of these a store of Cursor's CLI, as it grows: new blobs, and a newer root."""
    path.parent.mkdir(parents=True, exist_ok=True)
    messages = [
        json.dumps({"role": role, "content": text}).encode()
        for each in prompts
        for role, text in (("user", f"<user_query>\n{each}\n</user_query>"), ("assistant", "Done."))
    ]
    names = [sha256(each).digest() for each in messages]
    root = b"".join(b"\x0a\x20" + each for each in names)
    meta = json.dumps({"latestRootBlobId": sha256(root).hexdigest()}).encode().hex()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB)")
        connection.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)")
        blobs = [(sha256(each).hexdigest(), each) for each in (*messages, root)]
        connection.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", blobs)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", (meta,))
    connection.close()


async def test_a_store_that_grows_is_read_once_and_its_twin_says_nothing_new(
    tmp_path: Path,
) -> None:
    path, ranges = tmp_path / "chats" / "0f0f" / "s1" / "store.db", MemoryRanges()
    said = ["this was there before us"]
    stored(path, said)
    assert await cold(ranges, tmp_path).begin(cursor.SOURCE, str(tmp_path / "chats")) == 1
    assert await come(cold(ranges, tmp_path), cursor.SOURCE, path) == []
    reading = cold(ranges, tmp_path)
    said.append("we deploy only on tuesdays")
    stored(path, said)
    (window,) = await come(reading, cursor.SOURCE, path)
    assert (window.session, texts(window)) == ("s1", said[1:])
    twin = tmp_path / "projects" / "shop" / "agent-transcripts" / "s1.jsonl"
    twin.parent.mkdir(parents=True)
    twin.write_text(as_cursor(said))
    keys = [exchange.key for exchange in window.exchanges]
    assert ranges.claim("cursor", "s1", keys, "run", OWNER, NOW)
    ranges.finish("run", "saved", NOW)
    assert [text for each in await come(reading, cursor.SOURCE, twin) for text in texts(each)] == []
    said.append("we deploy only on tuesdays")
    stored(path, said)
    newest = (await come(reading, cursor.SOURCE, path))[-1]
    assert texts(newest)[-1:] == said[2:]
