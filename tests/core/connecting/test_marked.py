from __future__ import annotations

import pytest

from extractord.core.connecting.marked import passage

PASSAGE = passage("line", "AGENTS.md", "Run it\nonce.")
WRITTEN = "<!-- extractord -->\nRun it\nonce.\n<!-- /extractord -->\n"


@pytest.mark.parametrize("text", ["# Rules\n", "# Rules", "# Rules\r\nBe kind.\r\n", "\n", "", "a\n\n\n"])
def test_it_stands_at_the_end_and_comes_out_to_the_byte(text: str) -> None:
    more, trace = PASSAGE.added(text)
    assert more.startswith(text)
    assert WRITTEN in more.replace("\r\n", "\n")
    assert PASSAGE.removed(more, trace) == (text or None)
    assert PASSAGE.removed(text, trace) == (text or None)


def test_a_file_that_was_not_there_is_none_again() -> None:
    more, trace = PASSAGE.added(None)
    assert more == WRITTEN
    assert PASSAGE.removed(more, trace) is None


def test_what_was_changed_inside_goes_too_and_what_came_behind_stays() -> None:
    more, trace = PASSAGE.added("# Rules\n")
    changed = more.replace("once", "twice") + "More.\n"
    assert PASSAGE.removed(changed, trace) == "# Rules\nMore.\n"
    assert PASSAGE.removed(more, ()) == "# Rules\n"
