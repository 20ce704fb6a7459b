"""Pi: an extension in its folder; it has no servers."""

from __future__ import annotations

from extractord.core.connecting.programs import program
from extractord.core.connecting.target import Addition, Ground, Target
from extractord.core.transcripts.pi import home_of

AGENT = "pi"
_EXTENSION = """export default function (pi) {
  let block;
  pi.on("session_start", () => {
    block = undefined;
  });
  pi.on("before_agent_start", async (event, context) => {
    block ??= told(context.cwd);
    const words = await block;
    return words ? { systemPrompt: `${event.systemPrompt}\\n\\n${words}` } : undefined;
  });
}
"""


def _additions(ground: Ground) -> tuple[Addition, ...]:
    path = f"{home_of(ground.around)}/extensions/extractord.js"
    return (program(ground, AGENT, path, _EXTENSION),)


TARGET = Target(
    name=AGENT,
    purpose="an extension of Pi",
    additions=_additions,
    own_memory="has none; it reads `AGENTS.md` files that people write",
)
