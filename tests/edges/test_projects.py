"""Which project a directory belongs to, over repositories that a real git made and over broken ones."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from extractord.core.project import slug_of
from extractord.core.records import Project
from extractord.edges.projects import resolve

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git to make repositories")


@dataclass(frozen=True)
class Places:
    """A home and a temporary folder, beside each other."""

    home: Path
    tmp: Path

    def ask(
        self, cwd: object, worktrees: str = "shared", platform: str = "linux", **configured: str
    ) -> Project:
        return resolve(
            str(cwd),
            configured={str(self.home / place): name for place, name in configured.items()},
            worktrees=worktrees,  # type: ignore[arg-type]
            home=str(self.home),
            tmp=str(self.tmp),
            platform=platform,
        )


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path.resolve() / "home", tmp_path.resolve() / "tmp")
    made.home.mkdir()
    made.tmp.mkdir()
    return made


def project(directory: object, *, identity: object = None, is_project: bool = True) -> Project:
    identity = str(identity or directory)
    return Project(slug=slug_of(identity), identity=identity, directory=str(directory), is_project=is_project)


def git(*arguments: object, cwd: Path) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always")
    subprocess.run(
        ["git", *who, *map(str, arguments)], cwd=cwd, env=env, check=True, capture_output=True, text=True
    )


def repository(place: Path) -> Path:
    """Make what git accepts as a repository."""
    for folder in ("objects", "refs"):
        (place / ".git" / folder).mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return place


def committed(place: Path) -> Path:
    place.mkdir(parents=True)
    git("init", "-q", cwd=place)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=place)
    return place


def test_a_folder_without_a_repository_is_its_own_project(places: Places) -> None:
    place = places.home / "notes"
    place.mkdir()
    assert places.ask(place) == project(place)
    assert places.ask(f"{place}/../notes/") == project(place)
    assert places.ask("~/notes") == project(place)


def test_home_the_root_and_the_temporary_folder_are_none_and_folders_below_are(places: Places) -> None:
    for nowhere in (places.home, Path("/"), places.tmp):
        assert places.ask(nowhere) == project(nowhere, is_project=False)
    assert places.ask("~") == project(places.home, is_project=False)
    assert places.ask(places.home / "x") == project(places.home / "x")
    assert places.ask(places.tmp / "x") == project(places.tmp / "x")


def test_a_folder_in_a_repository_belongs_to_its_top(places: Places) -> None:
    top = repository(places.home / "shop")
    (top / "src" / "deep").mkdir(parents=True)
    assert places.ask(top / "src" / "deep") == project(top)
    assert places.ask(top) == project(top)
    assert places.ask(top / ".git" / "refs") == project(top)


def test_a_repository_over_all_of_home_takes_nothing_below_in(places: Places) -> None:
    repository(places.home)
    assert places.ask(places.home / "notes") == project(places.home / "notes")
    assert places.ask(places.home) == project(places.home, is_project=False)


def test_the_inner_of_two_repositories_counts(places: Places) -> None:
    outer = repository(places.home / "outer")
    inner = repository(outer / "inner")
    assert places.ask(inner / "src") == project(inner)
    assert places.ask(outer / "src") == project(outer)


def test_a_directory_that_is_gone_is_as_it_was_recorded(places: Places) -> None:
    top = repository(places.home / "shop")
    assert places.ask("/gone/for/good") == project("/gone/for/good")
    assert places.ask("/gone/./x/../for") == project("/gone/for")
    assert places.ask(top / "deleted" / "src") == project(top)


def test_links_lead_to_the_real_place(places: Places) -> None:
    top = repository(places.home / "shop")
    (places.home / "link").symlink_to(top)
    (places.home / "loop").symlink_to(places.home / "loop")
    (places.home / "dangling").symlink_to("/gone")
    assert places.ask(places.home / "link" / "src") == project(top)
    assert places.ask(places.home / "loop") == project(places.home / "loop")
    assert places.ask(places.home / "dangling") == project("/gone")


@pytest.mark.parametrize("cwd", ["", ".", "src", "a\0b", "/a\0b"])
def test_a_path_that_means_nothing_is_no_project(places: Places, cwd: str) -> None:
    assert places.ask(cwd) == Project(slug=slug_of(cwd), identity=cwd, directory=cwd, is_project=False)


def test_a_path_of_another_system_is_taken_as_it_is_written(places: Places) -> None:
    assert places.ask("C:\\code\\shop") == project("C:\\code\\shop")


def test_a_path_too_long_for_the_disk_is_taken_as_it_is_written(places: Places) -> None:
    assert places.ask("/" + "x" * 5000) == project("/" + "x" * 5000)


def test_a_configured_name_outlives_the_place_and_the_deepest_counts(places: Places) -> None:
    top = repository(places.home / "mono")
    names = {"mono": "team/mono", "mono/web": "team/web", "unused": "x"}
    assert places.ask(top / "api", **names) == project(top, identity="team/mono")
    assert places.ask(top / "web" / "src", **names) == project(top / "web", identity="team/web")
    assert places.ask(top / "website", **names) == project(top, identity="team/mono")
    assert places.ask(places.home / "other", **names) == project(places.home / "other")


def test_a_configured_home_is_no_project_still(places: Places) -> None:
    assert places.ask(places.home, **{"": "all of it"}) == project(places.home, is_project=False)
    assert places.ask(places.home / "x", **{"": "all of it"}) == project(places.home / "x")


def test_where_case_does_not_count_the_identity_is_lower_case(places: Places) -> None:
    top = repository(places.home / "Shop")
    mac = places.ask(top / "src", platform="darwin")
    assert mac == project(top, identity=str(top).lower())
    assert places.ask(top, platform="linux").identity == str(top)
    assert not places.ask(str(places.home).upper(), platform="darwin").is_project


@needs_git
@pytest.mark.parametrize("relative", [False, True])
def test_worktrees_share_a_project_or_have_one_each(places: Places, *, relative: bool) -> None:
    top = committed(places.home / "shop")
    tree = places.home / "elsewhere" / "fix"
    git("worktree", "add", "-q", tree, "-b", "fix", cwd=top)
    if relative:
        named = top / ".git" / "worktrees" / "fix"
        (tree / ".git").write_text(f"gitdir: {os.path.relpath(named, tree)}\n")
        (named / "gitdir").write_text(f"{os.path.relpath(tree / '.git', named)}\n")
    (tree / "src").mkdir()
    assert places.ask(tree / "src") == project(top)
    assert places.ask(top) == project(top)
    assert places.ask(tree / "src", "separate") == project(tree)
    assert places.ask(top, "separate") == project(top)


@needs_git
def test_a_link_into_a_repository_that_does_not_point_back_counts_for_nothing(places: Places) -> None:
    top = committed(places.home / "shop")
    git("worktree", "add", "-q", places.home / "fix", "-b", "fix", cwd=top)
    foreign = places.home / "downloaded"
    foreign.mkdir()
    shutil.copy(places.home / "fix" / ".git", foreign / ".git")
    assert places.ask(foreign) == project(foreign)
    (foreign / ".git").unlink()
    (foreign / ".git").hardlink_to(places.home / "fix" / ".git")
    assert places.ask(foreign) == project(foreign)
    (foreign / ".git").unlink()
    (foreign / ".git").write_text(f"gitdir: {top / '.git'}\n")
    assert places.ask(foreign) == project(foreign)
    assert places.ask(places.home / "fix") == project(top)


@needs_git
def test_worktrees_of_a_bare_repository_share_it(places: Places) -> None:
    origin = committed(places.home / "origin")
    bare = places.home / "shop.git"
    git("clone", "-q", "--bare", origin, bare, cwd=places.home)
    git("worktree", "add", "-q", places.home / "one", "-b", "one", cwd=bare)
    git("worktree", "add", "-q", places.home / "two", "-b", "two", cwd=bare)
    assert places.ask(places.home / "one") == places.ask(places.home / "two") == project(bare)
    assert places.ask(bare / "hooks") == project(bare)


@needs_git
def test_worktrees_beside_a_hidden_bare_repository_share_the_folder_around_it(places: Places) -> None:
    origin = committed(places.home / "origin")
    around = places.home / "shop"
    around.mkdir()
    git("clone", "-q", "--bare", origin, around / ".bare", cwd=places.home)
    (around / ".git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "-q", around / "fix", "-b", "fix", cwd=around)
    assert places.ask(around / "fix") == project(around)
    assert places.ask(around) == project(around)


@needs_git
def test_a_submodule_is_a_repository_of_its_own_and_its_worktrees_share_it(places: Places) -> None:
    library = committed(places.home / "library")
    top = committed(places.home / "shop")
    git("submodule", "add", "-q", library, "lib", cwd=top)
    git("worktree", "add", "-q", places.home / "lib-fix", "-b", "fix", cwd=top / "lib")
    assert places.ask(top / "lib") == project(top / "lib")
    assert places.ask(top) == project(top)
    assert places.ask(places.home / "lib-fix") == project(top / "lib")


@pytest.mark.parametrize(
    "content", [b"", b"gitdir:", b"gitdir: /gone\n", b"gitdir: a\0b\n", b"\xff\xfe", b"x" * 100_000]
)
def test_a_git_file_that_leads_nowhere_ends_a_checkout(places: Places, content: bytes) -> None:
    top = repository(places.home / "shop")
    inner = top / "vendored"
    inner.mkdir()
    (inner / ".git").write_bytes(content)
    assert places.ask(inner / "src") == project(inner)


def test_a_git_folder_that_is_none_is_passed_over(places: Places) -> None:
    top = repository(places.home / "shop")
    (top / "inner" / ".git" / "hooks").mkdir(parents=True)
    assert places.ask(top / "inner") == project(top)


def test_a_linked_git_folder_belongs_to_where_the_link_is(places: Places) -> None:
    top = repository(places.home / "shop")
    other = places.home / "other"
    other.mkdir()
    (other / ".git").symlink_to(top / ".git")
    (places.home / "broken").mkdir()
    (places.home / "broken" / ".git").symlink_to("/gone")
    assert places.ask(other / "src") == project(other)
    assert places.ask(places.home / "broken") == project(places.home / "broken")


def test_a_pipe_in_place_of_a_file_does_not_block(places: Places) -> None:
    top = places.home / "shop"
    (top / "git").mkdir(parents=True)
    (top / ".git").write_text("gitdir: git\n")
    os.mkfifo(top / "git" / "gitdir")
    os.mkfifo(top / "git" / "commondir")
    assert places.ask(top) == project(top)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_git_folder_that_we_may_not_look_into_is_a_repository(places: Places) -> None:
    top = repository(places.home / "shop")
    (top / ".git").chmod(0)
    try:
        assert places.ask(top / "src") == project(top)
    finally:
        (top / ".git").chmod(0o700)
