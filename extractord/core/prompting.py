"""A prompt is a function with a signature: a text with declared variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template

from extractord.errors import ConfigError

SIGNATURES: Mapping[str, frozenset[str]] = {
    "extract": frozenset({"today", "agent", "session", "fence", "window"}),
    "manifest": frozenset({"shown", "total", "fence", "memories"}),
}
"""The prompts that the brief is made of, and the variables that each one takes."""
CONSOLIDATE: Mapping[str, frozenset[str]] = {"consolidate": frozenset({"today", "fence", "memories"})}
"""The same of a run over the memories themselves."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with variables, written `$name`."""

    text: str

    def render(self, **values: str) -> str:
        """Given a value for every variable, return the text; values are taken as they are."""
        return Template(self.text).substitute(values)


def read_prompts(
    texts: Mapping[str, str], signatures: Mapping[str, frozenset[str]] = SIGNATURES
) -> Mapping[str, Prompt]:
    """Given texts by name, return the prompts that the signatures ask for.

    Raise ConfigError with a sentence for every text that is missing or no template, and for every
    variable that is declared and not used, or used and not declared.
    """
    problems: list[str] = []
    for name, declared in signatures.items():
        if name not in texts:
            problems.append(f"the prompt {name}.md is missing: install extractord again")
            continue
        template = Template(texts[name])
        if not template.is_valid():
            problems.append(f"the prompt {name}.md has a `$` that names no variable: write `$$` for it")
            continue
        used = frozenset(template.get_identifiers())
        problems += [f"the prompt {name}.md does not use ${variable}" for variable in sorted(declared - used)]
        problems += [
            f"the prompt {name}.md asks for ${variable}, which nobody gives"
            for variable in sorted(used - declared)
        ]
    if problems:
        raise ConfigError(*problems)
    return {name: Prompt(texts[name].strip()) for name in signatures}
