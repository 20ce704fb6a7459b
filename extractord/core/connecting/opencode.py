"""opencode: a plugin in its configuration's folder, and a server in the configuration."""

from __future__ import annotations

from extractord.core.connecting.programs import program
from extractord.core.connecting.servers import server
from extractord.core.connecting.target import Addition, Ground, Target
from extractord.core.transcripts.opencode import AGENT
from extractord.core.transcripts.source import Surroundings

_PLUGIN = """export const Extractord = async ({ directory }) => {
  const sessions = new Map();
  return {
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return;
      if (!sessions.has(sessionID)) sessions.set(sessionID, told(directory));
      const block = await sessions.get(sessionID);
      if (block) output.system.push(block);
    },
  };
};
"""


def _home(around: Surroundings) -> str:
    own = around.env.get("OPENCODE_CONFIG_DIR")
    return own or f"{around.env.get('XDG_CONFIG_HOME') or f'{around.home}/.config'}/opencode"


def _additions(ground: Ground) -> tuple[Addition, ...]:
    home = _home(ground.around)
    plugin = program(ground, AGENT, f"{home}/plugin/extractord.js", _PLUGIN)
    if not ground.mcp:
        return (plugin,)
    entry = {"type": "local", "command": [*ground.command, "mcp"], "enabled": True}
    has_jsonc = ground.read(f"{home}/opencode.jsonc") is not None
    return plugin, server(f"{home}/opencode.json{'c' if has_jsonc else ''}", "mcp", entry)


TARGET = Target(
    name=AGENT,
    purpose="a plugin of opencode",
    additions=_additions,
    own_memory="has none; it reads `AGENTS.md` files that people write",
)
