"""A project's folder: its name for people, its hash for the truth."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractord.core.project import is_project, slug_of


def sealed(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("/home/a/shop", "shop"),
        ("/home/a/My Shop (2)", "My-Shop-2"),
        ("/home/a/.dotfiles", "dotfiles"),
        ("/home/a/shop/", "shop"),
        ("/", "project"),
        ("", "project"),
        ("/srv/…", "project"),
        ("/srv/foo.git", "foo.git"),
        ("/srv/프로젝트", "프로젝트"),
        ("/srv/" + unicodedata.normalize("NFD", "Größe"), "Größe"),
        ("/srv/a--b__c", "a-b__c"),
        ("C:\\code\\shop", "shop"),
        ("team/shop", "shop"),
        ("/srv/" + "x" * 60, "x" * 48),
        ("/srv/" + "x" * 47 + "-y", "x" * 47),
        ("/srv/..", "project"),
        ("/srv/a\u202eb\nc", "a-b-c"),
    ],
)
def test_a_slug_is_the_last_segment_and_sixteen_digits(identity: str, name: str) -> None:
    assert slug_of(identity) == f"{name}-{sealed(identity)}"


def test_a_name_that_is_not_utf_8_has_a_slug() -> None:
    odd = b"/srv/\xff\xfe".decode("utf-8", "surrogateescape")
    assert slug_of(odd) == "project-" + hashlib.sha256(b"/srv/\xff\xfe").hexdigest()[:16]


def test_two_projects_of_one_name_have_two_folders() -> None:
    assert slug_of("/a/shop") != slug_of("/b/shop")
    assert slug_of("/a/shop") == slug_of("/a/shop")


@given(st.text(max_size=120))
def test_a_slug_is_always_one_plain_segment(identity: str) -> None:
    slug = slug_of(identity)
    name, _, digits = slug.rpartition("-")
    assert 1 <= len(name) <= 48
    assert len(digits) == 16
    assert not set(slug) & set("/\\\0\n ")
    assert not slug.startswith((".", "-"))
    assert len(slug.encode()) <= 255


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("/home/a", False),
        ("/", False),
        ("/scratch", False),
        ("/home/a/x", True),
        ("/scratch/x", True),
        ("/home", True),
        ("/srv", True),
        ("/home/ab", True),
    ],
)
def test_exactly_home_the_root_and_the_temporary_folder_are_no_project(
    directory: str, *, expected: bool
) -> None:
    assert is_project(directory, home="/home/a", tmp="/scratch") is expected
