from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from person import Person

SETTINGS = """{
  // what I like
  "theme": "dark",
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
  }
}
"""


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "me")


@pytest.fixture
def settings(person: Person) -> Path:
    path = person.home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text(SETTINGS)
    return path


def tree(folder: Path) -> dict[str, object]:
    """Every file and folder with its bytes and its rights, our own state aside."""
    return {
        str(path.relative_to(folder)): (
            os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None,
            stat.S_IMODE(path.lstat().st_mode),
        )
        for path in sorted(folder.rglob("*"))
        if path.relative_to(folder).parts[0] not in ("state", "data")
    }


def test_it_is_shown_and_changes_nothing_where_nobody_can_be_asked(person: Person, settings: Path) -> None:
    told = person.types("install", "claude-code")
    assert told.returncode == 2
    assert '+    "SessionStart": [' in told.stdout
    assert "--yes was not given" in told.stderr
    dry = person.types("install", "claude-code", "--dry-run")
    assert (dry.returncode, settings.read_text()) == (0, SETTINGS)
    assert not (person.home / "state").exists()


def test_what_was_put_in_comes_out_to_the_byte_and_twice_is_once(person: Person, settings: Path) -> None:
    settings.chmod(0o640)
    before = tree(person.home)
    assert person.types("install", "claude-code", "--yes").returncode == 0
    once = settings.read_text()
    assert "// what I like" in once
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    again = person.types("install", "claude-code", "--yes")
    assert (again.returncode, settings.read_text()) == (0, once)
    assert "nothing to change" in again.stdout
    assert person.types("uninstall", "claude-code", "--yes").returncode == 0
    assert tree(person.home) == before
    assert "nothing to change" in person.types("uninstall", "claude-code", "--yes").stdout


def test_files_and_folders_that_were_made_are_gone(person: Person) -> None:
    before = tree(person.home)
    person.types("install", "claude-code", "--yes")
    assert (person.home / ".claude/settings.json").is_file()
    person.types("uninstall", "claude-code", "--yes")
    assert tree(person.home) == before


def test_a_file_that_was_made_stays_where_its_agent_has_written_into_it(person: Person) -> None:
    person.types("install", "claude-code", "--yes")
    settings = person.home / ".claude/settings.json"
    settings.write_text(json.dumps({"model": "opus", **json.loads(settings.read_text())}))
    person.types("uninstall", "claude-code", "--yes")
    assert settings.read_text() == '{"model": "opus"}'


def test_what_a_person_changed_meanwhile_stays(person: Person, settings: Path) -> None:
    person.types("install", "claude-code", "--yes")
    settings.write_text(settings.read_text().replace('"dark"', '"light" /* softer */'))
    person.types("uninstall", "claude-code", "--yes")
    assert settings.read_text() == SETTINGS.replace('"dark"', '"light" /* softer */')


def test_what_an_agent_wrote_anew_round_it_counts_as_installed(person: Person, settings: Path) -> None:
    settings.write_text("{}")
    person.types("install", "claude-code", "--yes")
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": "opus"}))
    anew = settings.read_text()
    assert "nothing to change" in person.types("install", "claude-code", "--yes").stdout
    assert settings.read_text() == anew
    settings.write_text(anew.replace("/extractord", "/elsewhere/extractord"))
    assert person.types("install", "claude-code", "--yes").returncode == 0
    assert "/elsewhere" not in settings.read_text()
    person.types("uninstall", "claude-code", "--yes")
    assert settings.read_text() == '{"model": "opus"}'


def test_a_link_stays_a_link_and_its_target_is_changed(person: Person, settings: Path) -> None:
    dotfiles = person.home / "dotfiles/claude.json"
    dotfiles.parent.mkdir()
    settings.rename(dotfiles)
    settings.symlink_to("../dotfiles/claude.json")
    before = tree(person.home)
    person.types("install", "claude-code", "--yes")
    assert settings.is_symlink()
    assert "extractord" in dotfiles.read_text()
    person.types("uninstall", "claude-code", "--yes")
    assert tree(person.home) == before


def test_a_malformed_file_is_refused_by_name_and_place_and_left(person: Person, settings: Path) -> None:
    settings.write_text('{\n  "a": 1\n  "b": 2\n}\n')
    for command in ("install", "uninstall"):
        told = person.types(command, "claude-code", "--yes")
        assert told.returncode == 1
        assert f"{settings}: malformed at line 3, column 3" in told.stderr
    assert settings.read_text() == '{\n  "a": 1\n  "b": 2\n}\n'
    settings.write_bytes(b'{"a": "\xff"}')
    assert f"{settings} is not UTF-8 at byte 7" in person.types("install", "claude-code", "--yes").stderr
    assert settings.read_bytes() == b'{"a": "\xff"}'


def test_the_agents_own_place_is_honoured_and_found_again(person: Person, tmp_path: Path) -> None:
    person.types("install", "claude-code", "--yes", CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))
    assert (tmp_path / "claude/settings.json").is_file()
    assert not (person.home / ".claude").exists()
    person.types("uninstall", "claude-code", "--yes")
    assert not (tmp_path / "claude").exists()


def test_a_lost_receipt_still_takes_out_what_is_known(person: Person, settings: Path) -> None:
    person.types("install", "claude-code", "--yes")
    (person.home / "state/installed/claude-code/receipts.json").unlink()
    person.types("uninstall", "claude-code", "--yes")
    assert settings.read_text() == SETTINGS


def test_the_file_as_it_was_is_kept_until_it_is_that_again(person: Person, settings: Path) -> None:
    told = person.types("install", "claude-code", "--yes").stdout
    place = told.partition("as it was: ")[2].splitlines()[0]
    assert Path(place).read_text() == SETTINGS
    assert stat.S_IMODE(Path(place).stat().st_mode) == 0o600
    person.types("uninstall", "claude-code", "--yes")
    assert not Path(place).exists()


def test_an_unknown_target_is_a_usage_error_and_none_lists_them(person: Person) -> None:
    told = person.types("install", "vim", "--yes")
    assert told.returncode == 2
    assert "name one of claude-code" in told.stderr
    person.types("install", "claude-code", "--yes")
    [line] = [row for row in person.types("install").stdout.splitlines() if row.startswith("claude-code")]
    assert "installed" in line


@pytest.mark.parametrize(("answer", "is_done"), [("y", True), ("", False), ("no", False)])
def test_a_person_is_asked(person: Person, settings: Path, answer: str, is_done: bool) -> None:
    code, screen = person.sits("install", "claude-code", keys=[f"{answer}\n"], prompt="[y/N] ")
    assert code == 0
    assert '+    "SessionStart": [' in screen
    assert (settings.read_text() != SETTINGS) is is_done


AGENTS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/config.toml",
    "gemini-cli": ".gemini/settings.json",
    "qwen-code": ".qwen/settings.json",
    "opencode": ".config/opencode/plugin/extractord.js",
    "pi": ".pi/agent/extensions/extractord.js",
    "agents-md": "shop/AGENTS.md",
}
BEFORE = {".json": SETTINGS, ".toml": '# mine\nmodel = "o9"', ".md": "# Rules\r\nBe kind.\r\n"}
WITH_SERVERS = {
    "claude-code": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini-cli": ".gemini/settings.json",
    "qwen-code": ".qwen/settings.json",
    "opencode": ".config/opencode/opencode.json",
}


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("exists", [True, False])
def test_every_agent_is_as_it_was_after_both(person: Person, name: str, exists: bool) -> None:
    path = person.home / AGENTS[name]
    if exists and path.suffix in BEFORE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(BEFORE[path.suffix].encode())
    before = tree(person.home)
    assert person.types("install", name, "--yes", cwd=person.shop).returncode == 0
    assert "extractord" in path.read_text()
    once = tree(person.home)
    assert "nothing to change" in person.types("install", name, "--yes", cwd=person.shop).stdout
    assert tree(person.home) == once
    assert person.types("uninstall", name, "--yes", cwd=person.shop).returncode == 0
    assert tree(person.home) == before


@pytest.mark.parametrize(("name", "file"), WITH_SERVERS.items())
def test_the_server_goes_where_the_agent_looks_and_out_again(person: Person, name: str, file: str) -> None:
    before = tree(person.home)
    assert person.types("install", name, "--yes").returncode == 0
    without = tree(person.home)
    assert person.types("install", name, "--mcp", "--yes").returncode == 0
    text = (person.home / file).read_text()
    assert text.count('"mcp"') >= 1
    assert tree(person.home) != without
    assert person.types("uninstall", name, "--yes").returncode == 0
    assert tree(person.home) == before


def test_where_there_is_no_place_for_a_server_it_says_so(person: Person) -> None:
    told = person.types("install", "pi", "--mcp", "--yes")
    assert (told.returncode, "leave --mcp out" in told.stderr) == (2, True)
    assert not (person.home / ".pi").exists()


def test_somebody_elses_plugin_of_that_name_is_left(person: Person) -> None:
    path = person.home / AGENTS["pi"]
    path.parent.mkdir(parents=True)
    path.write_text("export default () => {};\n")
    for command in ("install", "uninstall"):
        person.types(command, "pi", "--yes")
        assert path.read_text() == "export default () => {};\n"


def test_of_two_projects_one_is_taken_out(person: Person) -> None:
    other = person.home / "other"
    other.mkdir()
    (other / "CLAUDE.md").write_text("# Rules\n")
    for folder in (person.shop, other):
        assert person.types("install", "agents-md", "--project", str(folder), "--yes").returncode == 0
    assert not (other / "AGENTS.md").exists()
    assert person.types("uninstall", "agents-md", "--project", str(other), "--yes").returncode == 0
    assert (other / "CLAUDE.md").read_text() == "# Rules\n"
    assert "extractord context" in (person.shop / "AGENTS.md").read_text()
    assert person.types("uninstall", "agents-md", "--project", str(person.shop), "--yes").returncode == 0
    assert not (person.shop / "AGENTS.md").exists()


def test_an_agent_whose_hooks_are_turned_off_is_said_to_run_none(person: Person, settings: Path) -> None:
    settings.write_text('{"disableAllHooks": true}')
    assert "Claude Code runs no hook until that is changed" in person.types(
        "install", "claude-code", "--yes"
    ).stdout.replace("\n", " ")


def test_below_a_repository_its_top_is_meant_and_in_none_where_one_stands(person: Person) -> None:
    for name in ("objects", "refs"):
        (person.shop / ".git" / name).mkdir(parents=True)
    (person.shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    below, alone = person.shop / "src" / "deep", person.home / "alone"
    for folder in (below, alone):
        folder.mkdir(parents=True)
        assert person.types("install", "agents-md", "--yes", cwd=folder).returncode == 0
    assert sorted(person.home.rglob("AGENTS.md")) == [alone / "AGENTS.md", person.shop / "AGENTS.md"]
    for folder in (below, alone):
        assert person.types("uninstall", "agents-md", "--yes", cwd=folder).returncode == 0
    assert not list(person.home.rglob("AGENTS.md"))


def test_it_is_said_where_the_agents_program_is_not_found(person: Person) -> None:
    programs = person.home / "programs"
    programs.mkdir()
    says = "`pi` is not on your PATH"
    assert says in person.types("install", "pi", "--dry-run", PATH=str(programs)).stdout
    (programs / "pi").write_text("#!/bin/sh\n")
    (programs / "pi").chmod(0o755)
    assert says not in person.types("install", "pi", "--dry-run", PATH=str(programs)).stdout
