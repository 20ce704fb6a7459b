from __future__ import annotations

import json
import tomllib

import pytest

from extractord.core.connecting.codex import TARGET
from extractord.core.connecting.target import Addition, Ground
from extractord.core.transcripts.source import Surroundings
from extractord.errors import InstallError

HOME = "/home/me/.codex"
COMMAND = "/opt/extractord context --format hook --agent codex"
THEIRS = '[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = "theirs"\n'


def additions(files: dict[str, str], *, taking_out: bool = False, mcp: bool = False) -> dict[str, Addition]:
    ground = Ground(
        around=Surroundings({}, "/home/me", "linux"),
        command=("/opt/extractord",),
        read=files.get,
        real=lambda path: path,
        project="/home/me/shop",
        mcp=mcp,
        taking_out=taking_out,
    )
    return {each.key: each for each in TARGET.additions(ground)}


@pytest.mark.parametrize(("before", "nth"), [("", 0), (THEIRS, 1), ('model = "x"\n', 0)])
def test_the_hook_is_trusted_under_its_place(before: str, nth: int) -> None:
    found = additions({f"{HOME}/config.toml": before})
    assert list(found) == ["config"]
    more, trace = found["config"].added(before)
    hooks = tomllib.loads(more)["hooks"]
    assert hooks["SessionStart"][nth]["hooks"] == [{"type": "command", "command": COMMAND, "timeout": 10}]
    assert list(hooks["state"]) == [f"{HOME}/config.toml:session_start:{nth}:0"]
    assert found["config"].removed(more, trace) == (before or None)
    left = found["config"].removed(more, ())  # the trace is lost: an empty line may stay
    assert (left or "").rstrip("\n") == before.rstrip("\n")


def test_where_hooks_stand_in_a_file_of_their_own_ours_does_too() -> None:
    before = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}'
    found = additions({f"{HOME}/hooks.json": before})
    assert list(found) == ["hook", "config"]
    more, _ = found["hook"].added(before)
    trusted, trace = found["config"].added(None)
    assert json.loads(more)["hooks"]["SessionStart"][1]["hooks"][0]["command"] == COMMAND
    assert list(tomllib.loads(trusted)) == ["hooks"]
    assert list(tomllib.loads(trusted)["hooks"]["state"]) == [f"{HOME}/hooks.json:session_start:1:0"]
    assert found["config"].removed(trusted, trace) is None


def test_a_malformed_file_of_hooks_is_named() -> None:
    with pytest.raises(InstallError, match=rf"^{HOME}/hooks.json: malformed at line 1, column 2"):
        additions({f"{HOME}/hooks.json": "{,}"})


def test_a_hook_that_was_moved_counts_as_there_only_where_it_is_trusted() -> None:
    found = additions({f"{HOME}/config.toml": ""})["config"]
    more, _ = found.added("")
    assert found.holds(more)
    assert found.holds('model = "x"\n' + more)
    assert not found.holds(THEIRS + more)
    assert not found.holds(more.replace("/opt/", "/else/"))
    assert not found.holds("")


def test_taking_out_knows_both_places_and_leaves_what_is_not_ours() -> None:
    found = additions({}, taking_out=True, mcp=True)
    assert list(found) == ["hook", "config", "mcp"]
    theirs = f'{THEIRS}\n[hooks.state."/x:session_start:0:0"]\ntrusted_hash = "sha256:1"\n'
    theirs += '\n[mcp_servers.extractord]\ncommand = "something-else"\n'
    assert [each.removed(theirs, ()) for each in (found["config"], found["mcp"])] == [theirs, theirs]


def test_a_server_is_added_beside_others_and_never_over_one() -> None:
    before = '[mcp_servers.other]\ncommand = "other"\n'
    server = additions({}, mcp=True)["mcp"]
    more, trace = server.added(before)
    assert tomllib.loads(more)["mcp_servers"]["extractord"] == {"command": "/opt/extractord", "args": ["mcp"]}
    assert server.removed(more, trace) == before
    with pytest.raises(InstallError, match="is there already"):
        server.added(more)
