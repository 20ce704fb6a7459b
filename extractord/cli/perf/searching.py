"""How long a search in many memories takes, as a person types it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from extractord.cli.perf.indexing import fill
from extractord.cli.perf.rows import Conditions, Row, at_most
from extractord.cli.perf.starting import alone_in
from extractord.cli.perf.timing import interleaved, own_process
from extractord.config import Settings
from extractord.storeroom import storeroom

GROUP = "search"
_MANY, _QUICK_MANY = 10_000, 1_000
_ROUNDS, _QUICK_ROUNDS = 15, 5
_LIMIT_S = 0.1
_ROOT = "projects/many-0123456789abcdef"
_WORDS = ("drawing", "fact-777")


def measure(conditions: Conditions) -> Sequence[Row]:
    """Search where the daemon has been, in turn with a search where there is nothing, whose time goes off."""
    many = _QUICK_MANY if conditions.quick else _MANY
    full, empty = conditions.folder / "full", conditions.folder / "empty"
    settings = Settings(data_dir=full / "share", state_dir=full / "state")
    fill(settings.memory_dir / _ROOT, many, written_s_ago=60)
    with storeroom(settings, lambda _: None) as room:
        room.store.notice([_ROOT])
    taken = interleaved(
        {"full": lambda: _search(full), "empty": lambda: _search(empty)},
        _QUICK_ROUNDS if conditions.quick else _ROUNDS,
    )
    found, none = taken["full"], taken["empty"]
    detail = (
        f"the whole command {found.wall:.3f} s, of the processor {found.cpu:.3f} s; "
        f"where there is none {none.wall:.3f} s, {none.cpu:.3f} s"
    )
    name = f"search in {many:,} memories, besides the start of the command"
    return [at_most(GROUP, name, found.wall - none.wall, _LIMIT_S, "s", "a limit", detail)]


def _search(place: Path) -> None:
    own_process(["-m", "extractord", "search", *_WORDS, "--scope", "all"], alone_in(place))
