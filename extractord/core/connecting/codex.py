"""Codex: a hook in its configuration that is trusted as its own review would do it, and a server there.

Codex runs a hook only where `hooks.state` holds the hash of the hook as it is; the agreement to
what `install` shows is the review that writes it there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from extractord.core.connecting import jsonc, tomltext
from extractord.core.connecting.hooks import SESSION_START, groups_of, hook, hook_command, is_hook_of_ours
from extractord.core.connecting.servers import NAME
from extractord.core.connecting.target import Addition, Ground, Target, Trace
from extractord.core.transcripts.codex import home_of
from extractord.core.transcripts.codex_entries import AGENT
from extractord.errors import InstallError

_PATIENCE_S = 10


def _additions(ground: Ground) -> tuple[Addition, ...]:
    home = home_of(ground.around)
    config, hooks = f"{home}/config.toml", f"{home}/hooks.json"
    handler = {"type": "command", "command": hook_command(ground, AGENT), "timeout": _PATIENCE_S}
    beside = hook(hooks, AGENT, handler)
    found: list[Addition] = []
    # Codex wants the hooks of a folder in one of the two files, and asks for that where both have some.
    is_beside = ground.read(hooks) is not None
    if is_beside or ground.taking_out:
        found.append(beside)
    known = ground.real(home) if ground.around.env.get("CODEX_HOME") else home
    file = f"{known}/{'hooks.json' if is_beside else 'config.toml'}"
    try:
        taken = _groups(ground.read(hooks), beside) if is_beside else None
    except InstallError as error:
        raise InstallError(f"{hooks}: {error}") from error
    found.append(_hook(config, handler, file, taken))
    if ground.mcp:
        found.append(_server(config, ground.command))
    return tuple(found)


def _groups(text: str | None, addition: Addition) -> int:
    """How many groups of hooks stand before ours in a JSON file."""
    without = None if text is None else addition.removed(text, ())
    return len(jsonc.values(without, groups_of(SESSION_START)))


def _hook(config: str, handler: Mapping[str, Any], file: str, beside: int | None) -> Addition:
    """The hook and its trust; the trust alone where the hook is the group of that number in another file."""
    trusted = _fingerprint(handler)

    def added(text: str | None) -> tuple[str, Trace]:
        nth = beside
        block = ""
        if nth is None:
            groups = tomltext.loaded(text or "").get("hooks", {}).get("SessionStart", [])
            nth = len(groups)
            block = f"[[hooks.SessionStart]]\n\n[[hooks.SessionStart.hooks]]\n{_lines(handler)}\n"
        key = f"{file}:session_start:{nth}:0"
        block += f"[hooks.state.{_quoted(key)}]\n{_lines({'trusted_hash': trusted})}"
        written, trace = tomltext.added(text, block)
        return written, (*trace, key)

    def removed(text: str, trace: Trace) -> str | None:
        return tomltext.removed(text, lambda table: _strip(table, trusted, trace[1:]), trace[:1])

    def holds(text: str) -> bool:
        hooks = tomltext.loaded(text).get("hooks", {})
        groups = [group.get("hooks", []) for group in hooks.get(SESSION_START, [])]
        ours = [
            (nth, at, each)
            for nth, group in enumerate(groups)
            for at, each in enumerate(group)
            if is_hook_of_ours(each, AGENT)
        ]
        if [each for _, _, each in ours] != ([handler] if beside is None else []):
            return False
        nth, at = ours[0][:2] if ours else (beside, 0)
        return _hash_of(hooks.get("state", {}).get(f"{file}:session_start:{nth}:{at}")) == trusted

    return Addition(key="config", path=config, added=added, removed=removed, holds=holds)


def _strip(table: tomltext.Table, trusted: str, keys: Trace) -> None:
    """Take our hook and its trust out of a configuration, and what is empty then."""
    hooks = table.get("hooks", {})
    groups, state = hooks.get("SessionStart", []), hooks.get("state", {})
    for nth in reversed(range(len(groups))):
        handlers = groups[nth].get("hooks", [])
        ours = [at for at, each in enumerate(handlers) if is_hook_of_ours(each, AGENT)]
        for at in reversed(ours):
            del handlers[at]
        if ours and not handlers:
            del groups[nth]
    for key in [key for key, each in state.items() if key in keys or _hash_of(each) == trusted]:
        del state[key]
    for key in [key for key in ("SessionStart", "state") if key in hooks and not hooks[key]]:
        del hooks[key]
    if "hooks" in table and not hooks:
        del table["hooks"]


def _server(config: str, command: tuple[str, ...]) -> Addition:
    program, *words = command
    block = f"[mcp_servers.{NAME}]\n{_lines({'command': program, 'args': [*words, 'mcp']})}"

    def added(text: str | None) -> tuple[str, Trace]:
        return tomltext.added(text, block)

    def removed(text: str, trace: Trace) -> str | None:
        def strip(table: tomltext.Table) -> None:
            servers = table.get("mcp_servers", {})
            entry = servers.get(NAME, {})
            if "mcp" in entry.get("args", []) and any(NAME in str(word) for word in _words(entry)):
                del servers[NAME]
            if "mcp_servers" in table and not servers:
                del table["mcp_servers"]

        return tomltext.removed(text, strip, trace)

    def holds(text: str) -> bool:
        entry = tomltext.loaded(text).get("mcp_servers", {}).get(NAME)
        return bool(entry == {"command": program, "args": [*words, "mcp"]})

    return Addition(key="mcp", path=config, added=added, removed=removed, holds=holds)


def _words(entry: Mapping[str, Any]) -> list[object]:
    return [entry.get("command"), *entry.get("args", [])]


def _hash_of(entry: object) -> object:
    return entry.get("trusted_hash") if isinstance(entry, Mapping) else None


def _fingerprint(handler: Mapping[str, Any]) -> str:
    """What Codex takes of a hook to know it again (`hooks/list` of `codex app-server` shows it)."""
    said = {"event_name": "session_start", "hooks": [{**handler, "async": False}]}
    plain = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"


def _lines(entry: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_quoted(value)}\n" for key, value in entry.items())


def _quoted(value: object) -> str:
    """A value as TOML has it; its strings and lists are written as JSON's."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


TARGET = Target(
    name=AGENT,
    purpose="a session-start hook in the configuration of Codex, and that it is trusted",
    additions=_additions,
    own_memory=(
        "keeps memories of its own only where `memories` is turned on; to have one memory only, set "
        "`memories = false` under `[features]` in `config.toml`"
    ),
)
