"""A small program of ours in an agent's own folder, where that is how an agent is added to."""

from __future__ import annotations

import json
from string import Template

from extractord.core.connecting.hooks import hook_words
from extractord.core.connecting.target import Addition, Ground, own_file

_MARK = "// extractord: this file is its own."
_ASKS = Template("""$mark
// `extractord install $agent` wrote it, `extractord uninstall $agent` removes it.

import { execFile } from "node:child_process";

const [program, ...words] = $command;

// What is remembered, as a block of text; nothing where that fails: $agent goes on without.
const told = (directory) =>
  new Promise((resolve) => {
    const limits = { cwd: directory, timeout: 10_000, maxBuffer: 1 << 20 };
    execFile(program, words, limits, (error, block) => resolve(error ? "" : block.trim()));
  });

$rest""")


def program(ground: Ground, agent: str, path: str, rest: str) -> Addition:
    """Given the part that is the agent's own way, return the file; `told(directory)` is there for it."""
    command = json.dumps([*ground.command, *hook_words(agent)], ensure_ascii=False)
    text = _ASKS.substitute(mark=_MARK, agent=agent, command=command, rest=rest)
    return own_file("hook", path, text, _MARK)
