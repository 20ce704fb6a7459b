"""The settings: from a file, from the environment, and every problem with them at once."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from extractord.config import Settings, load_settings
from extractord.config.sample import described, sample
from extractord.config.settings import Agent, Budget, Projects, Run
from extractord.errors import ConfigError


def given(tmp_path: Path, toml: str = "", **environ: str) -> Settings:
    config = tmp_path / "config.toml"
    config.write_text(toml)
    return load_settings({"EXTRACTORD_CONFIG": str(config), **environ})


def problems(tmp_path: Path, toml: str = "", **environ: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        given(tmp_path, toml, **environ)
    return caught.value.problems


def test_nothing_set_is_every_default(tmp_path: Path) -> None:
    places = {"EXTRACTORD_DATA_DIR": str(tmp_path / "d"), "EXTRACTORD_STATE_DIR": str(tmp_path / "s")}
    assert given(tmp_path, **places) == Settings(
        config_file=tmp_path / "config.toml", data_dir=tmp_path / "d", state_dir=tmp_path / "s"
    )


def test_a_file_that_anybody_can_change_is_refused_and_a_groups_is_read(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('mode = "ask"\n')
    config.chmod(0o664)
    assert load_settings({"EXTRACTORD_CONFIG": str(config)}).mode == "ask"
    config.chmod(0o666)
    with pytest.raises(ConfigError) as caught:
        load_settings({"EXTRACTORD_CONFIG": str(config)})
    refused = f"{config} can be changed by anybody on this machine: run `chmod o-w {config}`"
    assert caught.value.problems == (refused,)
    assert load_settings({"EXTRACTORD_CONFIG": "/dev/null"}).mode == "auto"


def test_memories_live_below_the_data_directory_or_where_they_are_put(tmp_path: Path) -> None:
    assert given(tmp_path, EXTRACTORD_DATA_DIR="/d").memory_dir == Path("/d/memory")
    assert given(tmp_path, EXTRACTORD_MEMORY__DIR="/elsewhere").memory_dir == Path("/elsewhere")


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    toml = "[run]\ndrain_s = 5\nconcurrency = 3\n"
    assert given(tmp_path, toml, EXTRACTORD_RUN__DRAIN_S="7").run == Run(drain_s=7.0, concurrency=3)


def test_the_environment_gives_lists_and_agents(tmp_path: Path) -> None:
    settings = given(
        tmp_path,
        EXTRACTORD_PROJECTS__EXCLUDE="/a:/b",
        EXTRACTORD_AGENTS__CLAUDE_CODE__HEADLESS="true",
    )
    assert settings.projects == Projects(exclude=("/a", "/b"))
    assert settings.agents == {"claude-code": Agent(headless=True)}


def test_unlimited_is_written_out_and_zero_means_zero(tmp_path: Path) -> None:
    toml = '[budget]\nday_requests = "unlimited"\nday_dollars = 0\n'
    assert given(tmp_path, toml).budget == Budget(day_requests="unlimited", day_dollars=0)


def test_every_problem_is_said_at_once_with_its_key(tmp_path: Path) -> None:
    toml = """
    mode = "sometimes"
    memory = "there"
    colour = "blue"
    [run]
    drain_sec = 5
    concurrency = 0
    [budget]
    day_dollars = "much"
    [agents.pi]
    loud = true
    """
    assert problems(tmp_path, toml, EXTRACTORD_RUN__SETTLE_S="soon") == (
        "`mode` is 'sometimes': give one of 'auto', 'ask', 'recall'",
        "`memory` is a section: write [memory]",
        "unknown setting `colour`",
        "unknown setting `run.drain_sec`: did you mean `run.drain_s`?",
        "`run.concurrency` is 0: Expected `int` >= 1",
        "`run.settle_s` (EXTRACTORD_RUN__SETTLE_S) is 'soon': give a number",
        "`budget.day_dollars` is 'much': give a number of 0 or more, or \"unlimited\"",
        "unknown setting `agents.pi.loud`",
    )


def test_a_file_that_is_named_and_missing_is_a_problem_and_the_standard_one_is_not(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"EXTRACTORD_CONFIG names .*, which is not there"):
        load_settings({"EXTRACTORD_CONFIG": str(tmp_path / "none.toml")})
    assert load_settings({"XDG_CONFIG_HOME": str(tmp_path)}).mode == "auto"


def test_a_file_that_is_not_toml_is_named_with_the_place(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "mode = = 1")
    assert problem.startswith(f"{tmp_path}/config.toml is not TOML: ")
    assert "line 1" in problem


def test_the_sample_says_every_default_and_can_be_used(tmp_path: Path) -> None:
    shown = "\n".join(
        line.removeprefix("# ") for line in sample().splitlines() if re.match(r"# (\[|\w+ = )", line)
    )
    settings = given(tmp_path, shown)
    assert settings == Settings(
        agents={"claude-code": Agent()},
        config_file=settings.config_file,
        data_dir=settings.data_dir,
        state_dir=settings.state_dir,
    )
    assert len(tomllib.loads(shown)["budget"]) == len(Budget.__struct_fields__)


def test_every_setting_is_described() -> None:
    assert all(each.use and each.default for each in described())


def test_a_place_that_would_be_another_one_from_elsewhere_is_a_problem(tmp_path: Path) -> None:
    toml = """
    memory.dir = "memories"
    model.key_file = "./key"
    projects.exclude = ["/a", "b"]
    agents.aider.paths = ["~/src", "src"]
    """
    assert problems(tmp_path, toml, EXTRACTORD_MQTT__CA_FILE="ca.pem") == (
        "`memory.dir` is 'memories': give a path that begins with / or ~",
        "`model.key_file` is './key': give a path that begins with / or ~",
        "`mqtt.ca_file` is 'ca.pem': give a path that begins with / or ~",
        "`projects.exclude` is 'b': give a path that begins with / or ~",
        "`agents.aider.paths` is 'src': give a path that begins with / or ~",
    )
    assert given(tmp_path, 'memory.dir = "~/memories"').memory_dir == Path.home() / "memories"


def test_a_wrong_value_is_said_in_words_with_the_variable_that_holds_it(tmp_path: Path) -> None:
    toml = 'mode = 3\n[budget]\nattempts = "many"\n[run]\npolling = "often"\n'
    dollars = 'give a number of 0 or more, or "unlimited"'
    assert problems(tmp_path, toml, EXTRACTORD_BUDGET__DAY_DOLLARS="-1", EXTRACTORD_FOO="1") == (
        "`mode` is 3: give one of 'auto', 'ask', 'recall'",
        "`budget.attempts` is 'many': give a whole number",
        f"`budget.day_dollars` (EXTRACTORD_BUDGET__DAY_DOLLARS) is '-1': {dollars}",
        "`run.polling` is 'often': give true or false",
        "unknown setting `foo` (EXTRACTORD_FOO)",
    )
