"""What tools are called in many agents, however each spells them, and what they do with their arguments."""

from __future__ import annotations

import json
import re

from msgspec.structs import replace

from extractord.core.records import ToolCall
from extractord.core.transcripts.toolcalls import Takes, tool_call

_PATHS = (
    "path",
    "file_path",
    "filePath",
    "filepath",
    "absolute_path",
    "target_file",
    "filename",
    "file",
    "notebook_path",
    "target_notebook",
)
_READS_NAMES = """
    read readfile readfiles view viewfile getfile openfile cat list listdir listdirectory listfiles ls glob
    grep search searchfiles findfiles"""
_WRITES_NAMES = """
    write writefile writetofile create createfile createnewfile edit editfile editfiles editexistingfile
    multiedit replace replaceinfile singlefindandreplace
    strreplace strreplacefile strreplaceeditor strreplacebasededittool texteditor searchandreplace
    insertcontent insert applydiff append appendfile delete deletefile removefile patch newrule
    replacestringinfile editnotebook notebookedit undoedit searchreplace multistrreplace
    inserteditintofile"""
_SHELLS_NAMES = """
    bash sh shell terminal exec execute executecommand executebash bashcommand runcommand runbash
    runterminal runterminalcmd runterminalcommand runinterminal runcommandinterminal runshellcommand
    localshell"""
_READ = Takes("read", _PATHS)
_WRITE = Takes("write", _PATHS)
_SHELL = Takes(
    "shell",
    ("command", "cmd", "keystrokes", "script"),
    ("cwd", "workdir", "working_dir", "working_directory"),
)
_PATCH = Takes("patch", ("patch", "input", "patchText", "patch_text", "diff"))
_TOOLS = {
    **dict.fromkeys(_READS_NAMES.split(), _READ),
    **dict.fromkeys(_WRITES_NAMES.split(), _WRITE),
    **dict.fromkeys(_SHELLS_NAMES.split(), _SHELL),
    "applypatch": _PATCH,
}
_LETTERS = re.compile(r"[^a-z]+")
_FAILED = re.compile(
    r"\s*(?:<error>|error\b|(?:the )?tool execution failed|traceback \(most recent call last\)"
    r"|the user (?:denied|rejected|doesn't want)|permission denied|command not found)",
    re.IGNORECASE,
)
_EXIT = re.compile(r"\bexit(?:ed with)? code:? (-?\d+)", re.IGNORECASE)


def common_call(ident: str, name: str, arguments: object, cwd: str | None) -> ToolCall:
    """Given a call as recorded, its arguments an object or JSON text, return what it names and changes.

    `mcp__files__write_file`, `Write` and `write_to_file` are all known; a server's name before is
    passed over.
    """
    given = parsed(arguments) if isinstance(arguments, str) else arguments
    kind = _LETTERS.sub("", re.split(r"__|[.:/]", name)[-1].lower())
    if isinstance(given, dict):
        if given.get("command") == "view" and kind not in ("bash", "shell", "terminal"):
            kind = "view"
        if kind == "patch" and not any(isinstance(given.get(key), str) for key in _PATHS):
            kind = "applypatch"
        given = {key: _line(value) for key, value in given.items()}
    elif isinstance(arguments, str) and kind == "applypatch":
        given = {"input": arguments}
    return replace(tool_call(ident, kind if kind in _TOOLS else name, given, cwd, _TOOLS), name=name)


def _line(value: object) -> object:
    """A command given as a list of words is the last of them where a shell takes it, else all."""
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return value[-1] if value[-2:-1] in (["-c"], ["-lc"]) else " ".join(value)
    return value


def parsed(text: str) -> object:
    """Given JSON text, return what it holds; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def has_failed(result: str) -> bool:
    """True if a tool's result, by its own words, says that it was not done."""
    found = parsed(result) if result.lstrip()[:1] == "{" else None
    if isinstance(found, dict):
        code = found.get("exit_code", found.get("exitCode", found.get("returncode", 0)))
        refused = any(found.get(key) is False for key in ("ok", "success"))
        return bool(found.get("error")) or refused or (isinstance(code, int) and code != 0)
    codes = _EXIT.findall(result)
    return _FAILED.match(result) is not None or (bool(codes) and codes[-1] != "0")
