"""What Codex's tools are asked to do with files, and whether they did."""

from __future__ import annotations

import re
import shlex

from msgspec import Raw, Struct

from extractord.core.records import ToolCall
from extractord.core.transcripts.codex_records import Part, Payload, plain
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import (
    absolute,
    patch_paths,
    script_reads,
    script_writes,
    shell_touches,
)
from extractord.core.transcripts.toolcalls import changes_by_name

_EXIT = re.compile(r'(?:Process exited with code|Exit code:|"exit_code":)\s*(-?\d+)')
_HEAD = 400
"""Characters at either end of an output in which the program says how it went."""
_RUNNING = ("Process running with session ID", "Script running")
_FAILED = (
    "script failed",
    "script error",
    "verification failed",
    "failed to parse",
    "execution error",
    "rejected by user",
    "aborted by user",
    "approval policy",
    "unsupported call",
    "sandbox denied",
    "failed in sandbox",
    "exec_command failed",
    "patch rejected",
    "tool call error",
)
_REFUSED = "err: "
"""How what a server's tool failed with begins."""


class Arguments(Struct, gc=False):
    """What tools are asked, as far as it names files."""

    cmd: str | None = None
    command: str | list[str] | None = None
    workdir: str | None = None
    input: str | None = None
    patch: str | None = None
    path: str | None = None
    file_path: str | None = None
    destination: str | None = None
    dir_path: str | None = None


class Output(Struct, gc=False):
    """A tool's output where it is an object, or text that holds one."""

    content: str | list[Part] | None = None
    text: str | None = None
    output: str | None = None
    success: bool | None = None


_text = decoder(str)
_arguments = decoder(Arguments)
_output = decoder(Output)


def calls(payload: Payload, cwd: str | None) -> tuple[ToolCall, ...]:
    """Given a tool's use, return the call; one that both reads and writes comes twice, by its id."""
    name, call = payload.name or payload.type or "", payload.call_id or payload.id or ""
    written, read = _touched(name, payload, cwd)
    made = [ToolCall(id=call, name=name, paths=written, writes=True)] if written else []
    if read or not written:
        made.append(ToolCall(id=call, name=name, paths=read))
    return tuple(made)


def _touched(name: str, payload: Payload, cwd: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that a call would change, and those that it reads."""
    if payload.action is not None:
        return shell_touches(_command(payload.action.command), payload.action.working_directory or cwd)
    program = payload.input or ""
    given = _embedded(payload.arguments) if bytes(payload.arguments) else b""
    if program.startswith("{") and (read := _arguments(program.encode())) is not None:
        asked, program = read, ""
    else:
        asked = (_arguments(given) if given else None) or Arguments()
    place = absolute(asked.workdir, cwd) if asked.workdir else cwd
    if "patch" in name:
        return patch_paths(program or asked.input or asked.patch or "", place), ()
    if name == "exec" and program:
        return script_writes(program, cwd), script_reads(program, cwd)
    command = asked.cmd or _command(asked.command) or program
    if command:
        return shell_touches(command, place)
    named = asked.file_path or asked.path or asked.destination or asked.dir_path
    paths = (absolute(named, place),) if named else ()
    return (paths, ()) if changes_by_name(name) else ((), paths)


def _command(command: str | list[str] | None) -> str:
    """The text of a command that may be given word by word."""
    if command is None or isinstance(command, str):
        return command or ""
    if len(command) == 3 and command[1].startswith("-") and "c" in command[1]:  # noqa: PLR2004 - sh -lc TEXT
        return command[2]
    return command[1] if command[:1] == ["apply_patch"] and len(command) > 1 else shlex.join(command)


def output(raw: Raw) -> tuple[str, bool | None]:
    """Given a tool's output, return its text and whether the tool did what it was asked.

    None while the command still runs.
    """
    said = _plain(raw)
    found = Output()
    if said[:1] == "{":
        found = _output(said.encode()) or found
    elif said[:1] == "[":
        found = _output(f'{{"content":{said}}}'.encode()) or found
    shown = found.output if found.output is not None else found.text
    text = shown if shown is not None else plain(found.content) if found.content else said.strip()
    if found.success is not None:
        return text, found.success
    head = said[:_HEAD]
    if code := _EXIT.search(head) or _EXIT.search(said, max(0, len(said) - _HEAD)):
        return text, code[1] == "0"
    if any(sign in head for sign in _RUNNING):
        return text, None
    lowered = head.lower()
    return text, not (said.startswith(_REFUSED) or any(sign in lowered for sign in _FAILED))


def _plain(raw: Raw) -> str:
    """Given a JSON value, return the text that it is, or its own."""
    if bytes(memoryview(raw)[:1]) == b'"':
        return _text(bytes(raw)) or ""
    return bytes(raw).decode("utf-8", "replace")


def _embedded(raw: Raw) -> bytes:
    """Given a JSON value, return the bytes of the text that it is, or its own."""
    return _plain(raw).encode() if bytes(memoryview(raw)[:1]) == b'"' else bytes(raw)
