"""Recorded transcripts: each is known for its agent's or nobody's, and has the prompts that were typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from feeding import SAMPLES, memory_writes

from extractord.core.exchanges import PROMPTS
from extractord.core.records import Entry
from extractord.core.transcripts import SOURCES
from extractord.core.transcripts.source import Container, Source, Surroundings
from extractord.errors import TranscriptError
from extractord.reading.finding import found_at
from extractord.reading.listing import told
from extractord.reading.members import container_of

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")

PROMPTS_TYPED = {
    "aider/av/myrepo/.aider.chat.history.md": ("aider", 2),
    "aider/derived/.aider.chat.history.md": ("aider", 2),
    "aider/irr-1-1_session-start--2026-05-23-00-59-14.md": ("aider", 0),
    "aider/irr-1-2_session-end--2026-05-23-01-20-36.md": ("aider", 0),
    "aider/irr-2-13_turn-end-terminal-text--2026-05-25-19-03-37.md": ("aider", 1),
    "aider/irr-2-14_turn-aborted-by-error--2026-05-25-18-55-18.md": ("aider", 1),
    "aider/irr-2-16_oversized-transcript-line--2026-05-25-18-17-41.md": ("aider", 1),
    "aider/irr-2-17_user-blocking-question--2026-05-25-19-06-58.md": ("aider", 1),
    "aider/irr-2-1_basic-turn--2026-05-25-17-16-28.md": ("aider", 1),
    "aider/irr-2-21_streaming-partial-writes--2026-05-25-19-33-33.md": ("aider", 1),
    "aider/irr-2-2_auto-executed-tool-call--2026-05-25-17-59-35.md": ("aider", 2),
    "aider/irr-2-4_self-correction-iteration--2026-05-25-18-26-46.md": ("aider", 1),
    "aider/irr-2-5_synchronous-slash-command--2026-05-25-18-44-31.md": ("aider", 0),
    "aider/irr-2-6_long-agentic-session-stress--2026-05-25-18-03-38.md": ("aider", 4),
    "aider/irr-2-8_autonomous-loop-iteration-limit--2026-05-25-19-15-12.md": ("aider", 1),
    "aider/irr-baseline-hello--2026-04-25-20-19-21.md": ("aider", 1),
    "aider/irr-full-lifecycle-toolcall--2026-04-25-21-44-09.md": ("aider", 1),
    "aider/irr-interrupted-turn--2026-04-25-21-59-24.md": ("aider", 2),
    "aider/irr-llm-error--0000-00-00-00.md": ("aider", 1),
    "aider/irr-model-switch--2026-04-25-22-00-13.md": ("aider", 2),
    "aider/irr-multi-turn-conversation--2026-04-25-21-54-18.md": ("aider", 3),
    "aider/irr-yes-always-multi-step--0000-00-00-00.md": ("aider", 1),
    "atif/derived/trajectory.json": ("atif", 1),
    "atif/polylogue-atof/nemo_relay_atof_v0.1_real_redacted.jsonl": (None, 0),
    "atif/polylogue/nemo_relay_atif_v1.7_real_redacted.json": ("atif", 0),
    "cline/derived/half-written/tasks/1771763997999/api_conversation_history.json": ("cline", 0),
    "cline/derived/native/tasks/1771763997801/api_conversation_history.json": ("cline", 2),
    "cline/derived/native/tasks/1771763997801/task_metadata.json": (None, 0),
    "cline/derived/native/tasks/1771763997801/ui_messages.json": ("cline", 2),
    "cline/derived/roo-xml/tasks/0198aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/api_conversation_history.json": (
        "roo",
        2,
    ),
    "cline/derived/roo-xml/tasks/0198aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/history_item.json": (None, 0),
    "cline/derived/roo-xml/tasks/0198aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/ui_messages.json": ("roo", 2),
    "cline/engram/tasks/1770000000000/ui_messages.json": ("cline", 2),
    "codex/om/codex-transcript.jsonl": (None, 0),
    "copilot/vct/legacy-history-session-state.json": ("copilot-cli", 1),
    "crush/derived/crush.db": ("crush", 1),
    "cursor/as-tests/subagent-session.jsonl": ("cursor", 1),
    "cursor/as-tests/test-session.jsonl": ("cursor", 2),
    "cursor/as-tests/test-store.db": ("cursor", 0),
    "cursor/as/schema_drift.jsonl": ("cursor", 1),
    "cursor/as/small.jsonl": ("cursor", 2),
    "cursor/as/subagent/parent.jsonl": ("cursor", 1),
    "cursor/as/subagent/subagents/child.jsonl": ("cursor", 0),
    "droid/as/session_store_large.jsonl": ("droid", 2),
    "droid/as/session_store_schema_drift.jsonl": ("droid", 1),
    "droid/as/stream_json_schema_drift.jsonl": ("droid", 1),
    "generic/openai-conversations.jsonl": ("openai-chat", 2),
    "generic/openai-messages-per-line.jsonl": ("openai-chat", 2),
    "goose/agentscribe/sample_session.jsonl": ("goose", 1),
    "goose/derived/legacy/20250916_101010.jsonl": ("goose", 1),
    "goose/derived/sessions.db": ("goose", 2),
    "hermes-rowdump/irr-1-6_checkpoint-rewind--2026-08-02-23-46-36.jsonl": ("hermes", 2),
    "hermes-rowdump/irr-2-10_mid-turn-message-queued--2026-08-03-00-34-43.jsonl": ("hermes", 2),
    "hermes-rowdump/irr-2-3_task-list--2026-08-02-23-43-35.jsonl": ("hermes", 1),
    "hermes/as/large.json": ("hermes", 1),
    "hermes/as/schema_drift.json": ("hermes", 1),
    "hermes/as/small.json": ("hermes", 1),
    "hermes/derived/state.db": ("hermes", 3),
    "hermes/om/hermes-session.jsonl": ("hermes", 1),
    "hermes/polylogue/v1/example-session.json": ("hermes", 1),
    "kimi/as/assistant_tools.jsonl": ("kimi", 8),
    "kimi/as/assistant_tools.state.json": (None, 0),
    "kimi/as/small.jsonl": ("kimi", 3),
    "kimi/as/state.json": (None, 0),
    "openclaw/as/large.jsonl": ("openclaw", 1),
    "other/antigravity/cli_schema_drift.jsonl": (None, 0),
    "other/antigravity/cli_small.jsonl": (None, 0),
    "other/antigravity/small.md": (None, 0),
    "other/gptme/2026-06-13-write-hello-world/conversation.jsonl": (None, 0),
    "other/grok/chat_history.jsonl": (None, 0),
    "other/grok/subagent/chat_history.jsonl": (None, 0),
    "other/grok/subagent/summary.json": (None, 0),
    "other/iflow/session-5de701fc-7454-4858-a249-95cac4fd3b51.jsonl": (None, 0),
    "other/vibe/session_basic/messages.jsonl": (None, 0),
    "other/vibe/session_basic/meta.json": (None, 0),
    "other/vibe/session_empty/messages.jsonl": (None, 0),
    "other/vibe/session_with_tools/messages.jsonl": (None, 0),
    "other/vibe/session_with_tools/meta.json": (None, 0),
    "otel/av/sample-1_VSGitHubCopilot_traces.jsonl": ("otel-genai", 0),
    "otel/av/sample-2_VSGitHubCopilot_traces.jsonl": ("otel-genai", 0),
    "otel/av/sample-3_VSGitHubCopilot_traces.jsonl": ("otel-genai", 0),
    "otel/av/sample-4_VSGitHubCopilot_traces.jsonl": ("otel-genai", 0),
    "zcode/derived/db.sqlite": ("zcode", 1),
}
"""Whose a file is, and how many prompts a person or a program gave in it, as read by eye."""

WRITES = {
    "atif/derived/trajectory.json": "y.md",
    "cline/derived/native/tasks/1771763997801/api_conversation_history.json": "hello.md",
    "cline/derived/native/tasks/1771763997801/ui_messages.json": "hello.md",
    "cline/derived/roo-xml/tasks/0198aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/api_conversation_history.json": "x.md",
    "cline/derived/roo-xml/tasks/0198aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/ui_messages.json": "x.md",
    "crush/derived/crush.db": "c.md",
    "generic/openai-messages-per-line.jsonl": "x.md",
    "goose/derived/legacy/20250916_101010.jsonl": "g.md",
    "goose/derived/sessions.db": "t.md",
    "hermes/derived/state.db": "h.md",
    "zcode/derived/db.sqlite": "z.md",
}
FOLDERS = {
    "claude": "claude-code",
    "codex": "codex",
    "copilot": "copilot-cli",
    "gemini": "gemini-cli",
    "opencode": "opencode",
    "opencode-rowdump": "opencode",
    "pi": "pi",
    "qwen": "qwen-code",
}
AROUND = Surroundings({}, "/nobody", "linux")
SMALL = 400_000


async def source_of(path: Path) -> Source | None:
    try:
        ((source, _),) = await found_at(str(path), SOURCES, AROUND, list[TranscriptError]().append)
    except TranscriptError:
        return None
    return source


async def entries_of(source: Source, path: Path, copies: Path) -> list[Entry]:
    return [*(await told(source, str(path), str(copies))).entries.values()]


def typed(entries: list[Entry]) -> list[str]:
    return [entry.text for entry in entries if entry.origin in PROMPTS]


@pytest.mark.parametrize("name", PROMPTS_TYPED)
async def test_a_sample_is_its_agents_and_has_the_prompts_that_were_typed(name: str, tmp_path: Path) -> None:
    source = await source_of(SAMPLES / name)
    entries = await entries_of(source, SAMPLES / name, tmp_path) if source else []
    assert (source.agent if source else None, len(typed(entries))) == PROMPTS_TYPED[name]


@pytest.mark.parametrize("name", WRITES)
async def test_a_sample_writes_its_memory_and_nothing_says_that_it_failed(name: str, tmp_path: Path) -> None:
    source = await source_of(SAMPLES / name)
    assert source is not None
    ((path, ok),) = memory_writes(await entries_of(source, SAMPLES / name, tmp_path))
    assert path == f"/home/dev/memory/{WRITES[name]}"
    assert ok is (None if name.endswith("ui_messages.json") else True)


def every_sample() -> list[str]:
    files = sorted(SAMPLES.rglob("*")) if SAMPLES.exists() else []
    return [str(file.relative_to(SAMPLES)) for file in files if file.is_file()]


FOLDERS_THERE = sorted({name.partition("/")[0] for name in every_sample() if "/" in name})


@pytest.mark.parametrize("folder", FOLDERS_THERE)
async def test_no_sample_is_taken_for_another_agents(folder: str) -> None:
    known = {name: agent for name, (agent, _) in PROMPTS_TYPED.items()}
    for name in every_sample():
        if name.partition("/")[0] == folder:
            source = await source_of(SAMPLES / name)
            agent = known.get(name, FOLDERS.get(folder))
            assert source is None or source.agent == agent, name


def crlf(raw: bytes) -> bytes:
    return raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def with_nuls(raw: bytes) -> bytes:
    half = raw.find(b"\n", len(raw) // 2) + 1
    return raw[:half] + b"\0" * 600 + raw[half:]


def torn(raw: bytes) -> bytes:
    return raw[: len(raw) * 2 // 3]


def marked(raw: bytes) -> bytes:
    return b"\xef\xbb\xbf" + raw


@pytest.mark.parametrize("folder", FOLDERS_THERE)
@pytest.mark.parametrize("spoilt", [crlf, with_nuls, torn, marked])
async def test_a_spoilt_sample_is_read_as_far_as_it_goes(
    folder: str, spoilt: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    for name in every_sample():
        whole = SAMPLES / name
        if name.partition("/")[0] != folder or whole.stat().st_size > SMALL:
            continue
        source = await source_of(whole)
        if source is None:
            continue
        path = tmp_path / "spoilt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(spoilt(whole.read_bytes()))
        try:
            seen = typed(await entries_of(source, path, tmp_path))
        except TranscriptError:
            assert container_of(source, name) is Container.ROWS or name.endswith(".zst"), name
            continue
        if spoilt is not torn and container_of(source, name) is Container.LINES:
            assert len(seen) == len(typed(await entries_of(source, whole, tmp_path))), name


async def test_a_compressed_sample_of_lines_is_read_like_its_plain_twin(tmp_path: Path) -> None:
    for name, (agent, prompts) in PROMPTS_TYPED.items():
        if agent is None or not name.endswith(".jsonl"):
            continue
        source = await source_of(SAMPLES / name)
        assert source is not None
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = path.with_name(path.name + ".zst")
        packed.write_bytes(zstandard.compress((SAMPLES / name).read_bytes()))
        assert len(typed(await entries_of(source, packed, tmp_path))) == prompts, name
