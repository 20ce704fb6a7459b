"""What a living daemon follows of a changed configuration, and what waits for a restart."""

from pathlib import Path

from extractord.config.changes import LIVE, Changes
from extractord.config.settings import Agent, Budget, Memory, Model, Settings

OLD = Settings(data_dir=Path("/d"), state_dir=Path("/s"))


def test_models_budgets_gates_modes_and_the_log_are_followed() -> None:
    new = Settings(
        data_dir=Path("/d"),
        state_dir=Path("/s"),
        mode="ask",
        log="json",
        model=Model(name="openai/x"),
        budget=Budget(day_dollars=3.0),
        agents={"codex": Agent(enabled=False)},
    )
    changes = Changes.between(OLD, new)
    assert changes.settings == new
    assert changes.followed == ("agents.codex.enabled", "agents.codex.headless", "agents.codex.paths",
                                "budget.day_dollars", "log", "mode", "model.name")  # fmt: skip
    assert changes.at_restart == ()


def test_places_and_confinement_wait_for_a_restart_and_the_rest_is_followed() -> None:
    new = Settings(
        data_dir=Path("/d"),
        state_dir=Path("/s"),
        memory=Memory(dir="/m"),
        confinement="off",
        mode="recall",
    )
    changes = Changes.between(OLD, new)
    assert changes.settings == Settings(data_dir=Path("/d"), state_dir=Path("/s"), mode="recall")
    assert list(changes.sentences()) == [
        "configuration reread: mode changed",
        "configuration reread: confinement, memory.dir needs a restart",
    ]


def test_nothing_changed_is_said_too() -> None:
    assert list(Changes.between(OLD, OLD).sentences()) == ["configuration reread: nothing changed"]


def test_what_can_be_followed_are_sections_that_there_are() -> None:
    assert set(Settings.__struct_fields__) >= LIVE
