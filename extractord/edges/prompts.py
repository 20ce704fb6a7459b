"""The prompts as they are installed, read from the package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from extractord.core.prompting import SIGNATURES, Prompt, read_prompts


def load_prompts(
    folder: Traversable | None = None, signatures: Mapping[str, frozenset[str]] = SIGNATURES
) -> Mapping[str, Prompt]:
    """Given the folder of the prompts (ours if None), return those that a brief is made of.

    Raise ConfigError naming everything that is missing or does not fit.
    """
    where = files("extractord") / "prompts" if folder is None else folder
    found = {name: where / f"{name}.md" for name in signatures}
    return read_prompts(
        {name: file.read_text("utf-8") for name, file in found.items() if file.is_file()}, signatures
    )
