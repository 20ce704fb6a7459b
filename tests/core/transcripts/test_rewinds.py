from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from extractord.core.transcripts.rewinds import Tree


def below(records: list[tuple[str, str | None]], top: str) -> set[str]:
    """The record and all below it, found in the plainest way."""
    found = {top}
    while grown := {node for node, parent in records if parent in found} - found:
        found |= grown
    return found


@given(st.integers(0, 10_000), st.integers(2, 14))
def test_a_second_prompt_abandons_all_that_is_below_the_first_in_whatever_order_it_came(
    seed: int, size: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    nodes = [f"n{at}" for at in range(size)]
    records = [(node, f"n{chance.randrange(at)}" if at else None) for at, node in enumerate(nodes)]
    first = ("n1", "n0")
    if chance.random() < 0.5:
        late = records[2:]
        chance.shuffle(late)
        records = [records[0], *late[: size // 2], first, *late[size // 2 :]]
    tree = Tree()
    for node, parent in records:
        if node == "n1":
            assert tree.prompted(node, parent) == ()
        tree.add(node, parent, anchors=True)
    dead = tree.prompted("again", "n0")
    assert (len(dead), set(dead)) == (len(set(dead)), below(records, "n1"))
