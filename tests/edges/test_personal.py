from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from extractord.core.connecting.target import Receipt
from extractord.edges.personal import read, remove_folders, write
from extractord.edges.receipts import Receipts
from extractord.errors import InstallError


def test_a_text_takes_the_place_of_another_with_its_rights(tmp_path: Path) -> None:
    place = tmp_path / "settings.json"
    place.write_bytes(b"{}\r\n")
    place.chmod(0o640)
    assert read(str(place)) == "{}\r\n"
    assert write(str(place), "{}\r\n", '{"a": 1}\r\n') == ()
    assert place.read_bytes() == b'{"a": 1}\r\n'
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["settings.json"]


def test_what_only_its_owner_may_read_is_never_there_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, before = tmp_path / "config.toml", os.umask(0)
    seen: list[int] = []
    real = os.fsync

    def looked(descriptor: int) -> None:
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        real(descriptor)

    try:
        place.write_text("key")
        place.chmod(0o600)
        monkeypatch.setattr(os, "fsync", looked)
        write(str(place), "key", "key and ours")
        write(str(tmp_path / "fresh"), None, "ours")
    finally:
        os.umask(before)
    assert seen == [0o600, 0o666]
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_folders_that_are_made_are_told_and_removed_as_far_as_they_are_empty(tmp_path: Path) -> None:
    place = tmp_path / "a/b/c.js"
    made = write(str(place), None, "text")
    assert made == (str(tmp_path / "a"), str(tmp_path / "a/b"))
    write(str(place), "text", None)
    (tmp_path / "a/mine").touch()
    remove_folders(made)
    assert os.listdir(tmp_path / "a") == ["mine"]


def test_a_link_is_followed_even_to_what_is_not_there_yet(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to("dotfiles/settings.json")
    assert read(str(link)) is None
    made = write(str(link), None, "{}")
    assert (link.is_symlink(), (tmp_path / "dotfiles/settings.json").read_text()) == (True, "{}")
    write(str(link), "{}", None)
    remove_folders(made)
    assert os.listdir(tmp_path) == ["settings.json"]
    assert link.is_symlink()


def test_what_has_changed_meanwhile_is_left(tmp_path: Path) -> None:
    place = tmp_path / "settings.json"
    place.write_text("theirs")
    for before in ("{}", None):
        with pytest.raises(InstallError, match="has changed meanwhile: run this again"):
            write(str(place), before, "ours")
    assert place.read_text() == "theirs"


def test_what_is_no_plain_file_of_one_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "one").write_text("{}")
    os.link(tmp_path / "one", tmp_path / "two")
    (tmp_path / "round").symlink_to("round")
    for name, words in (("folder", "is not a file"), ("two", "has 2 names"), ("round", "symbolic links")):
        with pytest.raises(InstallError, match=words):
            read(str(tmp_path / name))
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(InstallError, match="latin is not UTF-8 at byte 3"):
        read(str(tmp_path / "latin"))


def test_receipts_and_backups_are_the_persons_alone_and_gone_with_the_last(tmp_path: Path) -> None:
    receipts = Receipts(tmp_path / "state", "codex")
    assert receipts.rows() == ()
    name = receipts.back_up("/home/me/config.toml", "a = 1\n")
    row = Receipt(key="hook", path="/home/me/config.toml", existed=True, trace=("x", "y"), backup=name)
    receipts.keep([row])
    assert Receipts(tmp_path / "state", "codex").rows() == (row,)
    assert (receipts.folder / name).read_text() == "a = 1\n"
    modes = {stat.S_IMODE(each.stat().st_mode) for each in receipts.folder.iterdir()}
    assert (modes, stat.S_IMODE(receipts.folder.stat().st_mode)) == ({0o600}, 0o700)
    receipts.keep([])
    assert not receipts.folder.exists()


def test_receipts_that_cannot_be_read_are_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    receipts = Receipts(tmp_path, "codex")
    receipts.folder.mkdir(parents=True)
    (receipts.folder / "receipts.json").write_text("[{")
    with pytest.raises(InstallError, match="move it away to go on without"):
        receipts.rows()
