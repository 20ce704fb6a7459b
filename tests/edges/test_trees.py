from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from feeding import fed, newest, reader, voided

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.opencode import SOURCE
from extractord.core.transcripts.opencode_rows import TREE
from extractord.edges.trees import joined
from extractord.errors import TranscriptError


def tree(folder: Path, files: Mapping[str, object]) -> str:
    for name, contents in files.items():
        path = folder / "storage" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents if isinstance(contents, bytes) else json.dumps(contents).encode())
    return str(folder / "storage" / "session" / "prj" / "ses_1.json")


SESSION = {
    "id": "ses_1",
    "projectID": "prj",
    "directory": "/home/dev/shop",
    "version": "0.9",
    "time": {"created": 1},
}
CALL = {"command": "ls > a.md"}
FILES = {
    "session/prj/ses_1.json": SESSION,
    "message/ses_1/msg_2.json": {
        "id": "msg_2",
        "role": "assistant",
        "finish": "stop",
        "time": {"completed": 5},
    },
    "message/ses_1/msg_1.json": {"id": "msg_1", "role": "user"},
    "part/msg_1/prt_1.json": {"id": "prt_1", "type": "text", "text": "list them"},
    "part/msg_1/prt_2.json": {"id": "prt_2", "type": "text", "text": "read it", "synthetic": True},
    "part/msg_2/prt_4.json": {"id": "prt_4", "type": "text", "text": "Done."},
    "part/msg_2/prt_3.json": {
        "id": "prt_3",
        "type": "tool",
        "tool": "bash",
        "callID": "c1",
        "state": {"status": "completed", "input": CALL, "output": "a.md", "metadata": {"exit": 0}},
    },
    "part/msg_9/prt_9.json": {"id": "prt_9", "type": "text", "text": "of another session"},
}


def entry(ident: str, role: Role, origin: Origin, text: str, **more: object) -> Entry:
    base = Entry(
        id=ident, agent="opencode", session="ses_1", role=role, origin=origin, text=text, cwd="/home/dev/shop"
    )
    return Entry(**{**{field: getattr(base, field) for field in base.__struct_fields__}, **more})


def test_a_session_in_many_files_is_read_in_order(tmp_path: Path) -> None:
    call = ToolCall(id="c1", name="bash", paths=("/home/dev/shop/a.md",), writes=True, ok=True)
    assert fed(reader(SOURCE), joined(tree(tmp_path, FILES), TREE)) == [
        entry("msg_1", Role.USER, Origin.HUMAN, "list them"),
        entry("prt_2", Role.CONTEXT, Origin.SYNTHETIC, "read it"),
        entry("msg_2", Role.ASSISTANT, Origin.SYNTHETIC, "Done.", calls=(call,), turn_end=True),
        entry("prt_3", Role.TOOL, Origin.SYNTHETIC, "a.md"),
    ]


def test_messages_come_by_the_time_of_their_making_where_they_have_one(tmp_path: Path) -> None:
    odd = {
        "session/prj/ses_1.json": SESSION,
        "message/ses_1/a.json": {"id": "a", "role": "assistant", "time": {"created": 9}},
        "message/ses_1/z.json": {"id": "z", "role": "user", "time": {"created": 3}},
    }
    rows = json.loads(joined(tree(tmp_path, odd), TREE))
    assert [each["id"] for each in rows] == ["ses_1", "z", "a"]


def test_a_file_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    path = tree(tmp_path, FILES)
    (tmp_path / "storage/part/msg_1/prt_7.json").symlink_to(tmp_path / "nowhere")
    assert "prt_7" not in joined(path, TREE).decode()


def test_a_revert_a_parent_and_a_deleted_message_are_understood(tmp_path: Path) -> None:
    to = reader(SOURCE)
    path = tree(tmp_path, FILES)
    fed(to, joined(path, TREE))
    changed = {"session/prj/ses_1.json": {**SESSION, "parentID": "ses_0", "revert": {"messageID": "msg_2"}}}
    tree(tmp_path, changed)
    (tmp_path / "storage/message/ses_1/msg_1.json").unlink()
    seen = fed(to, joined(path, TREE))
    assert voided(seen) == {"msg_1", "prt_2", "msg_2", "prt_3"}
    assert {each.origin for each in newest(seen).values()} == {Origin.SUBAGENT}


def test_ids_that_lead_elsewhere_and_torn_files_lose_only_themselves(tmp_path: Path) -> None:
    odd = {
        "message/ses_1/msg_3.json": {"id": "../ses_1", "role": "user"},
        "message/ses_1/msg_4.json": b'{"id": "msg_4", "ro',
        "message/ses_1/msg_5.json": {"id": "*", "role": "user"},
        "part/msg_1/prt_0.json": b"\xff{",
    }
    to = reader(SOURCE)
    seen = newest(fed(to, joined(tree(tmp_path, {**FILES, **odd}), TREE)))
    assert set(seen) == {"msg_1", "prt_2", "msg_2", "prt_3"}
    assert to.unknown == {"undecodable": 2}


def test_a_session_file_alone_is_no_record_and_a_missing_one_is_said(tmp_path: Path) -> None:
    to = reader(SOURCE)
    assert fed(to, SESSION) == []
    assert to.unknown == {"": 1}
    with pytest.raises(TranscriptError, match=r"ses_1\.json cannot be read: No such file"):
        joined(str(tmp_path / "ses_1.json"), TREE)


def test_an_old_sessions_file_belongs_and_is_claimed() -> None:
    assert SOURCE.belongs("storage/session/prj/ses_1.json")
    assert not SOURCE.belongs("storage/message/ses_1/msg_1.json")
    path = "/home/dev/.local/share/opencode/storage/session/prj/ses_1.json"
    assert SOURCE.claims(path, json.dumps(SESSION).encode())
    assert not SOURCE.claims("/x/ses_1.json", json.dumps(SESSION).encode())
