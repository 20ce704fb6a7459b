"""A prompt is a function with a signature."""

from __future__ import annotations

import pytest

from extractord.core.prompting import Prompt, read_prompts
from extractord.edges.prompts import load_prompts
from extractord.errors import ConfigError

SIGNATURES = {"greet": frozenset({"name"}), "part": frozenset({"day"}), "dear": frozenset[str]()}


def test_the_installed_prompts_fit_their_signatures() -> None:
    assert set(load_prompts()) == {"extract", "manifest"}


def test_a_prompt_takes_its_values_as_they_are() -> None:
    assert Prompt("Hello $name, $$5").render(name="$day") == "Hello $day, $5"


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        read_prompts({"greet": "Hello $nane", "dear": "costs 5 $!"}, SIGNATURES)
    assert caught.value.problems == (
        "the prompt greet.md does not use $name",
        "the prompt greet.md asks for $nane, which nobody gives",
        "the prompt part.md is missing: install extractord again",
        "the prompt dear.md has a `$` that names no variable: write `$$` for it",
    )
