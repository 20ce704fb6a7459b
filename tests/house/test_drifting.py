from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from feeding import SAMPLES, line

from extractord.core.transcripts import SOURCES, claude_code, opencode
from extractord.core.transcripts.source import Source, Surroundings
from extractord.errors import TranscriptError
from extractord.reading.drifting import Hint, hints, newest
from extractord.reading.finding import found_at

CLAUDE = claude_code.SOURCE


def changed(session: str, nth: int, version: str = "9.0.0") -> bytes:
    """A prompt as no version writes it, yet."""
    said = {"say": "user", "words": f"we deploy on tuesdays, {nth}"}
    return line({"type": "prompt", "sessionId": session, "version": version, "said": said}) + b"\n"


def known(session: str, version: str = "9.0.0") -> bytes:
    fields = {"uuid": f"u-{session}", "parentUuid": None, "sessionId": session, "version": version}
    return (
        line({"type": "user", "message": {"role": "user", "content": "we deploy on tuesdays"}, **fields})
        + b"\n"
    )


def kept(root: Path, name: str, content: bytes, at: int) -> str:
    path = root / "-shop" / f"{name}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))
    return str(path)


async def found(source: Source, root: Path, each: int = 20) -> list[Hint | TranscriptError]:
    return [hint async for hint in hints(newest([(source, str(root))], each), str(root / "copies"))]


async def test_a_transcript_full_of_unknown_prompts_is_told_with_its_version_and_counts(
    tmp_path: Path,
) -> None:
    path = kept(tmp_path, "s1", b"".join(changed("s1", nth) for nth in range(6)), at=1000)
    assert await found(CLAUDE, tmp_path) == [
        Hint(
            agent="claude-code",
            path=path,
            versions=("9.0.0",),
            transcripts=1,
            marked=6,
            entries=0,
            unknown={"prompt": 6},
            said="format may have changed: 6 records look like prompts, none is one (claude-code, 9.0.0)",
        )
    ]


async def test_short_transcripts_of_one_version_come_to_one_hint_together(tmp_path: Path) -> None:
    for nth in range(5):
        path = kept(tmp_path, f"s{nth}", changed(f"s{nth}", nth), at=1000 + nth)
    (hint,) = await found(CLAUDE, tmp_path)
    assert isinstance(hint, Hint)
    assert (hint.path, hint.transcripts, hint.marked, hint.unknown) == (path, 5, 5, {"prompt": 5})


async def test_a_version_whose_prompts_are_understood_elsewhere_is_not_told(tmp_path: Path) -> None:
    for nth in range(5):
        kept(tmp_path, f"s{nth}", changed(f"s{nth}", nth), at=1000 + nth)
    kept(tmp_path, "good", known("good"), at=1)
    assert await found(CLAUDE, tmp_path) == []


async def test_an_older_version_that_is_understood_hides_no_newer_one(tmp_path: Path) -> None:
    for nth in range(5):
        kept(tmp_path, f"s{nth}", changed(f"s{nth}", nth), at=1000 + nth)
    kept(tmp_path, "good", known("good", "8.0.0"), at=1)
    assert [hint.versions for hint in await found(CLAUDE, tmp_path) if isinstance(hint, Hint)] == [("9.0.0",)]


async def test_only_the_newest_are_looked_into(tmp_path: Path) -> None:
    kept(tmp_path, "old", b"".join(changed("old", nth) for nth in range(6)), at=1)
    kept(tmp_path, "good", known("good"), at=1000)
    assert await found(CLAUDE, tmp_path, each=1) == []
    assert len(await found(CLAUDE, tmp_path, each=2)) == 1


async def test_one_that_cannot_be_read_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    root = tmp_path / "opencode"
    root.mkdir()
    (root / "opencode.db").write_bytes(b"no database" * 100)
    kept(tmp_path, "s1", b"".join(changed("s1", nth) for nth in range(6)), at=1000)
    pairs = [(opencode.SOURCE, str(root)), (CLAUDE, str(tmp_path)), (CLAUDE, str(tmp_path / "nowhere"))]
    error, hint = [each async for each in hints(newest(pairs), str(tmp_path))]
    assert isinstance(error, TranscriptError)
    assert str(root / "opencode.db") in str(error)
    assert isinstance(hint, Hint)


async def test_a_database_is_looked_into_a_session_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            """
            create table session (id text, project_id text, parent_id text, directory text, title text,
              version text, time_created integer, time_updated integer, revert text, time_archived integer);
            create table message (id text, session_id text, time_created integer, time_updated integer,
              data text);
            create table part (id text, message_id text, session_id text, time_created integer,
              time_updated integer, data text);
            """
        )
        for session in range(6):
            row = (f"ses_{session}", "p", None, "/home/dev/shop", "t", "9.0.0", session, session, None, None)
            database.execute("insert into session values (?,?,?,?,?,?,?,?,?,?)", row)
            asked = '{"role":"user","body":"we deploy on tuesdays"}'
            database.execute(
                "insert into message values (?,?,?,?,?)", (f"msg_{session}", row[0], session, session, asked)
            )
    assert [
        (hint.versions, hint.transcripts, hint.marked, hint.entries)
        for hint in await found(opencode.SOURCE, tmp_path)
        if isinstance(hint, Hint)
    ] == [(("9.0.0",), 6, 6, 0)]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the shared samples are not there")
async def test_of_real_transcripts_nothing_is_said(tmp_path: Path) -> None:
    def refused(error: TranscriptError) -> None:
        raise error

    transcripts = await found_at(str(SAMPLES), SOURCES, Surroundings({}, str(tmp_path), "linux"), refused)
    said = [each async for each in hints(transcripts, str(tmp_path)) if isinstance(each, Hint)]
    assert said == []
