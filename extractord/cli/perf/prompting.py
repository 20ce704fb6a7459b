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
_CHARACTERS_A_TOKEN = 4
"""Of English and JSON schemas; cl100k makes a ninth fewer of these very texts."""


def measure(_conditions: Conditions) -> Sequence[Row]:
    """Count the system's text, the tools with their schemas, and what stands around manifest and window."""
    system = load().system
    tools = "".join(tool.name + tool.description + schema(tool.name) for tool in CATALOGUE)
    around = "".join(prompt.text for prompt in load_prompts().values())
    tokens = [-(-len(text) // _CHARACTERS_A_TOKEN) for text in (system, tools, around)]
    safe = sum(map(estimate_tokens, (system, tools, around)))
    detail = "system {}, tools {}, around the window {}".format(*tokens)
    return [
        at_most(
            GROUP,
            "fixed prompt",
            sum(tokens),
            _MOST_TOKENS,
            "tokens",
            "a limit",
            f"{detail}; at four characters a token (the budget's safe estimate counts {safe})",
        )
    ]
