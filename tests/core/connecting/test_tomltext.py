from __future__ import annotations

import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from extractord.core.connecting.tomltext import Table, added, removed
from extractord.errors import InstallError

BLOCK = '[[hooks.SessionStart]]\n\n[[hooks.SessionStart.hooks]]\ncommand = "ours"\n'
WITH_OTHERS = """# mine
model = "o9"   # the good one

[[hooks.SessionStart]]
[[hooks.SessionStart.hooks]]
command = "theirs"

[projects."/home/me/shop"]
trust_level = "trusted"
"""


def strip(table: Table) -> None:
    groups = table.get("hooks", {}).get("SessionStart", [])
    for nth in reversed(range(len(groups))):
        if groups[nth]["hooks"][0]["command"] == "ours":
            del groups[nth]
    if "hooks" in table and not groups:
        del table["hooks"]


@given(
    st.lists(
        st.sampled_from(
            [
                "a = 1\n",
                "# a word\n",
                "\n",
                "[t]\nx = 'y'\n",
                "[[u]]\n",
                "d.e = 2 # note\n",
                '"k l" = """\n[x]\n"""\n',
            ]
        ),
        unique=True,
    ),
    st.sampled_from(["", "\n", "no = 1"]),
)
def test_what_is_put_in_is_there_and_taken_out_leaves_every_byte_as_it_was(
    lines: list[str], last: str
) -> None:
    ordered = sorted(lines, key=lambda line: line.startswith("["))
    text = "".join(ordered) + (last if not any(line.startswith("[") for line in lines) else "")
    for before in (text, text.replace("\n", "\r\n")):
        more, trace = added(before, BLOCK)
        assert tomllib.loads(more)["hooks"]["SessionStart"] == [{"hooks": [{"command": "ours"}]}]
        assert removed(more, strip, trace) == (before or None)


def test_the_hooks_of_others_stay_and_so_does_what_comes_behind() -> None:
    more, trace = added(WITH_OTHERS, BLOCK)
    behind = more + '\n[tui]\ntheme = "dark"\n'
    assert removed(behind, strip, trace) == WITH_OTHERS + '\n[tui]\ntheme = "dark"\n'


def test_where_another_program_has_written_it_anew_it_is_still_found() -> None:
    more, trace = added(WITH_OTHERS, BLOCK)
    anew = tomlkit.dumps(tomllib.loads(more))
    left = removed(anew, strip, trace)
    assert left is not None
    assert tomllib.loads(left) == tomllib.loads(WITH_OTHERS)
    assert removed(left, strip, trace) == left


def test_what_stands_inline_is_refused_and_malformed_text_with_its_place() -> None:
    with pytest.raises(InstallError, match="does not fit in"):
        added("hooks = { Stop = [] }\n", BLOCK)
    for text in ("a = 1\nb = \n", "\ufeffa = 1\nb = \n"):
        with pytest.raises(InstallError, match=r"^malformed: .* \(at line 2, column 5\)"):
            added(text, BLOCK)
        with pytest.raises(InstallError, match=r"^malformed: .* \(at line 2, column 5\)"):
            removed(text, strip, ())
