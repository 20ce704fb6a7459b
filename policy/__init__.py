"""The policy: what may be read, written, edited and removed, and why not; pure, and alone."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from extractord.policy.judging import PLACE_RULES, RULES, TEXT_RULES, judge
    from extractord.policy.paths import PATH_RULES
    from extractord.policy.removals import keeps_half, most_removals
    from extractord.policy.rules import Place, Rule, find_place
    from extractord.policy.secret import Hit, find_secrets
    from extractord.policy.shell import parse_rm

__all__ = [
    "PATH_RULES",
    "PLACE_RULES",
    "RULES",
    "TEXT_RULES",
    "Hit",
    "Place",
    "Rule",
    "find_place",
    "find_secrets",
    "judge",
    "keeps_half",
    "most_removals",
    "parse_rm",
]

_HOMES = {
    "judging": ("PLACE_RULES", "RULES", "TEXT_RULES", "judge"),
    "paths": ("PATH_RULES",),
    "removals": ("keeps_half", "most_removals"),
    "rules": ("Place", "Rule", "find_place"),
    "secret": ("Hit", "find_secrets"),
    "shell": ("parse_rm",),
}


def __getattr__(name: str) -> object:
    """Given a public name, import its module: the words of a request cost no YAML and no bashlex."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"extractord.policy.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
