"""`undo`: what a run changed is put back, whole."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from extractord.cli.attended import decider
from extractord.cli.json_lines import print_json
from extractord.cli.runs import find
from extractord.config import load_settings
from extractord.core.printable import printable
from extractord.edges.store import Keeping
from extractord.errors import EXIT_FAILED
from extractord.storeroom import storeroom, to_stderr


def undo(
    run: Annotated[str, Parameter(help="A run's id, or the beginning of one.")],
    /,
    *,
    json: Annotated[
        bool, Parameter(negative=(), help="One object: what was restored, or what changed since.")
    ] = False,
) -> int:
    """Put back what a run changed, where all of it is still as the run left it."""
    with storeroom(load_settings(), to_stderr) as room:
        undone = Keeping(room.store, decider()).undo(find(room.ledger, run).run)
    if json:
        print_json(undone)
    for place in () if json else undone.restored:
        print(f"{'removed' if place in undone.removed else 'restored'}: {printable(place)}")
    for place in () if json else undone.conflicts:
        print(f"changed since, so nothing was undone: {printable(place)}")
    return EXIT_FAILED if undone.conflicts else 0
