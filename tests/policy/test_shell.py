"""The rm grammar against a real bash, and against what bashlex cannot stand."""

from __future__ import annotations

import random
import shutil
import time

import pytest
from bashing import compared, random_command

from extractord.policy import parse_rm
from extractord.policy.requests import Remove
from extractord.policy.shell import _bashlex_agrees
from extractord.policy.verdict import Deny

SEED = 20261130
STRINGS = 5000


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_gives_rm_exactly_the_paths_that_the_grammar_read() -> None:
    chance = random.Random(SEED)  # noqa: S311 - the same strings each time
    commands = [random_command(chance) for _ in range(STRINGS)]
    agreement = compared(commands)
    assert agreement.differences == ()
    assert 500 < agreement.accepted < STRINGS - 500


@pytest.mark.parametrize(
    "command",
    [
        "rm a'${'",
        "rm \"a\"'${'b",
        "rm $'-f${'",
        "rm /m/a'`'.md",
        "rm " + "$(" * 200 + ")" * 200,
        "rm " + "a;rm " * 400,
    ],
)
def test_what_makes_bashlex_loop_or_raise_is_refused_before_it_runs(command: str) -> None:
    before = time.process_time()
    assert isinstance(parse_rm(command), Deny)
    assert time.process_time() - before < 0.05


@pytest.mark.parametrize(
    "command",
    [
        "rm '/m/'$(id)'x.md'",
        "rm /m/'a.md'",
        "rm '/m/a''b.md'",
        'rm "/m/a\\b.md"',
        "rm /m/{a,b}.md",
        "rm ~/a.md",
    ],
)
def test_what_bashlex_hides_is_refused(command: str) -> None:
    assert isinstance(parse_rm(command), Deny)


def test_several_whole_words_are_still_read() -> None:
    read = parse_rm(" rm -f -- /m/a.md '/m/b c.md'  \"/m/(d).md\" ")
    assert read == Remove(("/m/a.md", "/m/b c.md", "/m/(d).md"))


def test_the_longest_command_is_still_read_and_one_byte_more_is_not() -> None:
    longest = "rm /m/" + "a" * (2048 - len("rm /m/.md")) + ".md"
    assert isinstance(parse_rm(longest), Remove)
    assert isinstance(parse_rm(longest.replace(".md", "a.md")), Deny)


@pytest.mark.parametrize("command", ["ls /m", "cat /m/a.md", "", "echo x > /m/a.md", "mv /m/a.md /m/b.md"])
def test_any_other_command_is_refused_with_the_tools_to_use(command: str) -> None:
    refused = parse_rm(command)
    assert isinstance(refused, Deny)
    assert refused.rule == "bash"
    assert all(tool in refused.reason for tool in ("Read", "Grep", "Glob", "Write", "Edit"))


def test_the_odd_character_is_named() -> None:
    refused = parse_rm("rm /m/no\u202etes.md")
    assert isinstance(refused, Deny)
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in refused.reason


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("rm $(", ("/m/a.md",)),
        ("rm /m/a.md; rm /m/b.md", ("/m/a.md", "/m/b.md")),
        ("rm /m/a.md | id", ("/m/a.md",)),
        ("rm /m/a.md >x", ("/m/a.md",)),
        ("rm $HOME", ("$HOME",)),
        ("rm '/m/a''b.md'", ("/m/ab.md",)),
        ("rm -r /m/a.md", ("/m/a.md",)),
        ("ls /m/a.md", ("/m/a.md",)),
        ("rm /m/a.md /m/b.md", ("/m/b.md",)),
    ],
)
def test_the_second_opinion_disagrees_with_any_other_reading(command: str, paths: tuple[str, ...]) -> None:
    assert not _bashlex_agrees(command, paths)


def test_the_second_opinion_still_agrees_with_the_same_words() -> None:
    assert _bashlex_agrees("rm -f -- '/m/a b.md' /m/c.md", ("/m/a b.md", "/m/c.md"))


@pytest.mark.parametrize("command", ["rm a.md", "rm '-f' /m/a.md", "rm ./a.md /m/a.md"])
def test_a_relative_path_is_refused_as_such(command: str) -> None:
    refused = parse_rm(command)
    assert isinstance(refused, Deny)
    assert "Every path has to be absolute" in refused.reason


def test_a_lone_surrogate_is_refused_by_its_name() -> None:
    refused = parse_rm("rm /m/\udc80.md")
    assert isinstance(refused, Deny)
    assert refused.reason.startswith("U+DC80 cannot be written in UTF-8")
