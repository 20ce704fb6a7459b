"""The words that the sub-agent's model is told by the loop, as they are installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from msgspec import Struct

from extractord.core.prompting import read_prompts

SIGNATURES: Mapping[str, frozenset[str]] = dict.fromkeys(("system", "last_turn", "no_call"), frozenset())
"""The prompts that there are, and the variables that each one takes: none, so that caches hit."""


class Prompts(Struct, frozen=True, kw_only=True):
    """The prompts of one installation, read once at start."""

    system: str
    """The first message of every run."""
    last_turn: str
    """What comes before the last turn."""
    no_call: str
    """The answer to a reply that claims a save and calls nothing."""


def load(folder: Traversable | None = None) -> Prompts:
    """Given the folder of the prompts (ours if None), return them.

    Raise ConfigError naming everything that is missing or does not fit.
    """
    where = files("extractord") / "prompts" if folder is None else folder
    found = {name: where / f"{name}.md" for name in SIGNATURES}
    texts = {name: file.read_text("utf-8") for name, file in found.items() if file.is_file()}
    return Prompts(**{name: prompt.render() for name, prompt in read_prompts(texts, SIGNATURES).items()})
