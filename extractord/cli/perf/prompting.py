"""How many tokens every run begins with, whatever it is about."""

from __future__ import annotations

from collections.abc import Sequence

from extractord.agent.catalogue import CATALOGUE, schema
from extractord.agent.prompts import load
from extractord.cli.perf.rows import Conditions, Row, at_most
from extractord.core.tokens import estimate_tokens
from extractord.edges.prompts import load_prompts

GROUP = "prompt"
_MOST_TOKENS = 1500


def measure(_conditions: Conditions) -> Sequence[Row]:
    """Count the system's text, the tools with their schemas, and what stands around manifest and window."""
    system = estimate_tokens(load().system)
    tools = sum(estimate_tokens(tool.name + tool.description + schema(tool.name)) for tool in CATALOGUE)
    around = sum(estimate_tokens(prompt.text) for prompt in load_prompts().values())
    detail = f"system {system}, tools {tools}, around the window {around}; a safe estimate"
    return [
        at_most(GROUP, "fixed prompt", system + tools + around, _MOST_TOKENS, "tokens", "a limit", detail)
    ]
