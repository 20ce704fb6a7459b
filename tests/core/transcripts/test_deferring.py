from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest
from feeding import SAMPLES

from extractord.cli.perf import claude, codex
from extractord.core.exchanges import Session
from extractord.core.merging import whole
from extractord.core.records import Deferred, Entry, Exchange, Thawed
from extractord.core.transcripts import claude_code
from extractord.core.transcripts import codex as codex_source
from extractord.core.transcripts.source import Container, Opened, Source


def at_once(source: Source, path: str, lines: Iterable[bytes]) -> dict[str, tuple[Exchange, ...]]:
    reader = source.reader(Opened(path))
    sessions: dict[str, Session] = {}
    for line in lines:
        for seen in reader.feed(line) if line else ():
            sessions.setdefault(seen.session, Session(source.agent, seen.session)).apply(seen, path)
    return {name: session.exchanges() for name, session in sessions.items() if session.exchanges()}


def later(source: Source, path: str, lines: Iterable[bytes]) -> tuple[dict[str, tuple[Exchange, ...]], int]:
    """The same by way of deferred records, and how many those were."""
    assert source.later is not None
    reader = source.later.reader(Opened(path))
    assert reader is not None
    sessions: dict[str, Session] = {}
    deferred = 0
    for each in reader.skim((b"".join(line + b"\n" for line in lines), 0)):
        name = each.session
        session = sessions.setdefault(name, Session(source.agent, name, (), source.later.thaw))
        if not isinstance(each, Deferred):
            session.apply(each, path)
        elif session.defer(each, path):
            deferred += 1
        else:
            for entry in reader.thaw(each):
                session.apply(entry, path)
    found = {
        name: tuple(map(whole, session.exchanges()))
        for name, session in sessions.items()
        if session.exchanges()
    }
    return found, deferred


def mishandled(lines: list[bytes], chance: random.Random) -> list[bytes]:
    """Lines as crashes, resumes and other versions leave them: lost, torn, repeated, swapped, respelt."""
    found: list[bytes] = []
    for line in lines:
        match chance.randrange(30):
            case 0:
                continue
            case 1:
                found.append(line[: chance.randrange(len(line))])
            case 2:
                found += [line, line]
            case 3 if found:
                found.insert(-1, line)
            case 4 if found:
                again = chance.choice(found)
                found += [line] if b'"function_call"' in again else [line, again]
            case 5:
                found.append(line.replace(b":", b": ", 1))
            case 6:
                found.append(line.replace(b'"end_turn"', b"null").replace(b'"task_complete"', b'"warning"'))
            case 7:
                record = msgspec.json.decode(line)
                found.append(msgspec.json.encode(dict(sorted(record.items()))))
            case 8:
                found.append(line.replace(b"text", b"<extractord-memory id=x>m</extractord-memory>"))
            case _:
                found.append(line)
    return found


def mangled(line: bytes, chance: random.Random) -> bytes:
    """A line with bytes lost, changed, repeated or put in anywhere."""
    at = chance.randrange(len(line))
    to = at + chance.randrange(1, 200)
    match chance.randrange(7):
        case 0:
            return line[:at] + line[to:]
        case 1:
            return line[:to] + line[at:]
        case 2:
            return line[:at] + bytes([chance.randrange(11, 256)]) + line[at + 1 :]
        case 3:
            odd = (b'"', b"\\", b"{", b"}", b",", b"\xff", b"\\ud800", b"null", b"\t")
            return line[:at] + chance.choice(odd) + line[at:]
        case 4:
            return line + chance.choice((b"}", b" ", b"x", b"{}"))
        case 5:
            value = line.find(b'":', at) + 2
            return line[:value] + chance.choice((b"3", b'"x"', b"[]", b"{}", b"true")) + line[value:]
        case _:
            value = line.find(b'":', at) + 2
            return line[:value] + chance.choice((b"null,", b'"",')) + line[line.find(b'"', value) :]


AGENTS: list[tuple[Source, str, Callable[[int], Iterable[bytes]]]] = [
    (
        claude_code.SOURCE,
        "/t/session.jsonl",
        lambda seed: claude.Session(seed, "/home/dev/shop").lines(150_000),
    ),
    (
        codex_source.SOURCE,
        "/t/rollout-2026-01-05T09-00-00-8fa42872-2772-7c33-8dd3-f8912ff35376.jsonl",
        lambda seed: codex.Thread(seed, "/home/dev/shop").lines(150_000),
    ),
]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("source", "path", "written"), AGENTS, ids=["claude-code", "codex"])
def test_deferred_records_become_the_entries_that_reading_at_once_makes(
    source: Source, path: str, written: Callable[[int], Iterable[bytes]], seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines = [line[:-1] for line in written(seed)]
    for given in (lines, mishandled(lines, chance)):
        assert later(source, path, given)[0] == at_once(source, path, given)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize(("source", "path", "written"), AGENTS, ids=["claude-code", "codex"])
def test_mangled_lines_say_the_same_deferred_or_not(
    source: Source, path: str, written: Callable[[int], Iterable[bytes]], seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines = [line[:-1] for line in written(seed)]
    given = [mangled(line, chance) if chance.random() < 1 / 4 else line for line in lines]
    assert later(source, path, given)[0] == at_once(source, path, given)


def test_most_of_a_session_is_deferred() -> None:
    lines = [line[:-1] for line in claude.Session(1, "/home/dev/shop").lines(150_000)]
    _, deferred = later(claude_code.SOURCE, "/t/session.jsonl", lines)
    assert deferred == sum(b'"tool_use_id"' in line or b'"role":"assistant"' in line for line in lines) - sum(
        b'"type":"thinking"' in line for line in lines
    )


def sampled(source: Source) -> list[Path]:
    folder = {"claude-code": "claude", "codex": "codex"}[source.agent]
    found = sorted(Path(SAMPLES, folder).rglob("*.jsonl"))
    return [path for path in found if source.container(str(path)) is Container.LINES]


@pytest.mark.skipif(not SAMPLES.exists(), reason="../shared/samples is not there")
@pytest.mark.parametrize("source", [claude_code.SOURCE, codex_source.SOURCE], ids=lambda source: source.agent)
def test_mangled_samples_are_the_same_deferred_or_not(source: Source) -> None:
    chance = random.Random(1)  # noqa: S311 - no secret
    for path in sampled(source):
        lines = path.read_bytes().split(b"\n")
        given = [mangled(line, chance) if line and chance.random() < 1 / 12 else line for line in lines]
        assert later(source, str(path), given)[0] == at_once(source, str(path), given), path


@pytest.mark.skipif(not SAMPLES.exists(), reason="../shared/samples is not there")
@pytest.mark.parametrize("source", [claude_code.SOURCE, codex_source.SOURCE], ids=lambda source: source.agent)
def test_samples_are_the_same_deferred_or_not(source: Source) -> None:
    read = 0
    for path in sampled(source):
        place = str(path)
        lines = path.read_bytes().split(b"\n")
        found, deferred = later(source, place, lines)
        assert found == at_once(source, place, lines), place
        read += deferred
    assert read


def test_a_write_that_belongs_to_no_prompt_is_thawed_before_its_result_comes() -> None:
    def record(at: int, kind: str, content: object, stop: str | None = None) -> bytes:
        message: dict[str, object] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"m{at}", "model": "x", "stop_reason": stop}
        fields = {"uuid": f"u{at}", "parentUuid": f"u{at - 1}", "sessionId": "s", "cwd": "/home/dev/shop"}
        return msgspec.json.encode({**fields, "type": kind, "message": message})

    asked = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "/home/dev/memory/a.md"}}
    lines = [
        record(1, "user", "we deploy on tuesdays"),
        record(2, "assistant", [{"type": "text", "text": "noted"}], "end_turn"),
        record(3, "assistant", [asked], "tool_use"),
        record(
            4, "user", [{"type": "tool_result", "tool_use_id": f"t{at}", "content": "done"} for at in (0, 1)]
        ),
    ]
    source = claude_code.SOURCE
    reader = source.later.reader(Opened("/t/s.jsonl")) if source.later else None
    assert reader is not None
    skimming = iter(reader.skim((b"".join(line + b"\n" for line in lines), 0)))
    asking = next(each for each in skimming if isinstance(each, Deferred) and each.calls)
    (made,) = reader.thaw(asking)
    later_on = list(skimming)
    assert not any(isinstance(each, Thawed) for each in later_on)
    (revised,) = [each for each in later_on if isinstance(each, Entry) and each.id == made.id]
    assert [(call.paths, call.ok) for call in revised.calls] == [(("/home/dev/memory/a.md",), True)]


def test_an_output_that_is_no_utf8_is_repaired_and_stops_nobody() -> None:
    source, path, written = AGENTS[1]
    lines = [line[:-1] for line in written(1)]
    at = next(nth for nth, line in enumerate(lines) if b'"function_call_output"' in line)
    given = [*lines[:at], lines[at].replace(b'"output":"', b'"output":"\xff '), *lines[at + 1 :]]
    found = at_once(source, path, given)
    texts = [entry.text for exchanges in found.values() for each in exchanges for entry in each.entries]
    assert sum(text.startswith("\ufffd ") for text in texts) == 1
    assert later(source, path, given)[0] == found


def test_where_an_exchange_was_is_told_by_what_waits_where_its_prompt_does_not_say() -> None:
    source, path, written = AGENTS[0]
    lines = [line[:-1] for line in written(1)]
    given = [line.replace(b'"cwd":', b'"was":') if b'"content":"' in line[:300] else line for line in lines]
    assert given != lines
    assert later(source, path, given)[0] == at_once(source, path, given)


def test_a_prompt_that_only_an_event_tells_is_one_while_a_call_waits_for_its_output() -> None:
    source, path, written = AGENTS[1]
    lines = [line[:-1] for line in written(1) if b'"role":"user"' not in line]
    said = next(line for line in lines if b'"user_message"' in line)
    at = next(nth for nth, line in enumerate(lines) if b'_call_output"' in line)
    given = [*lines[:at], said, *lines[at:]]
    found = at_once(source, path, given)
    assert sum(map(len, found.values())) == sum(b'"user_message"' in line for line in given)
    assert later(source, path, given)[0] == found


def test_the_words_of_a_person_who_refused_a_call_are_a_prompt() -> None:
    source, path, written = AGENTS[0]
    lines = [line[:-1] for line in written(3)]
    at = [nth for nth, line in enumerate(lines) if b'"tool_result"' in line]
    for nth in at[1:]:
        lines[nth] = lines[nth][:-1] + b',"toolDenialKind":"user-rejected","userFeedback":"not so"}'
    found = at_once(source, path, lines)
    keys = [each.key for exchanges in found.values() for each in exchanges]
    assert sum("#" in key for key in keys) == len(at[1:]) > 0
    assert later(source, path, lines)[0] == found
