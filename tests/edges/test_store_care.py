from pathlib import Path

import pytest
from storing import PROJECT, SHOP_ROOT, USER, House, fact

from extractord.core.records import Outcome
from extractord.edges.store.placing import Placement
from extractord.edges.store.secrets import find_secret
from extractord.errors import ConflictError, StoreError
from extractord.policy.requests import Trust

WORDS = "Deploys happen on Tuesdays only"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"words"])
def test_an_index_that_cannot_be_used_is_left_as_it_is_and_blocks_nothing(house: House, raw: bytes) -> None:
    house.project.put("MEMORY.md", raw)
    if raw == b"words":
        house.project.links["MEMORY.md"] = raw
        del house.project.files["MEMORY.md"]
    assert house.keep(PROJECT, "deploys.md", WORDS).outcome is Outcome.SAVED
    assert {**house.project.files, **house.project.links}["MEMORY.md"] == raw


def test_a_persons_decision_is_made_by_compare_and_swap(house: House) -> None:
    house.keep(PROJECT, "deploys.md", WORDS)
    before = house.files()
    stale = Placement(SHOP_ROOT, "deploys.md", b"what the person saw", None, None)
    with pytest.raises(ConflictError, match=r"deploys\.md changed meanwhile; nothing was written"):
        house.store.place([stale], "person", "forget")
    assert house.files() == before


def test_what_an_agent_wrote_about_the_person_waits_and_what_it_wrote_about_the_project_does_not(
    house: House,
) -> None:
    for root in ("user", SHOP_ROOT):
        (house.memory / root).mkdir(parents=True)
    house.user.put("likes.md", fact("likes", "Likes tabs", "user").encode())
    house.project.put("tabs.md", fact("tabs", "Tabs are used").encode())
    house.store.witness(["user/likes.md"])
    house.store.witness([f"{SHOP_ROOT}/tabs.md"])
    house.store.witness([f"{SHOP_ROOT}/none.md", "elsewhere.txt", "user"])
    (likes,) = house.store.survey("user")
    (tabs,) = house.store.survey(SHOP_ROOT)
    assert likes.withheld.startswith("unstated: ")
    assert (tabs.withheld, tabs.trust, tabs.foreign) == ("", Trust.INFERRED, True)
    assert house.roots().index("user") == ""
    assert house.roots().index(SHOP_ROOT) == "- [tabs](tabs.md) — Tabs are used\n"


def test_what_a_run_wrote_is_not_witnessed(house: House) -> None:
    house.keep(USER, "tabs.md", "I prefer tabs in every file", "user")
    (house.memory / "user").mkdir()
    house.store.witness(["user/tabs.md"])
    (row,) = house.store.survey("user")
    assert (row.trust, row.foreign, row.withheld) == (Trust.STATED, False, "")


def test_a_memory_directory_that_cannot_be_locked_is_an_error(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.memory = tmp_path / "none"
    with pytest.raises(StoreError, match="cannot be locked"):
        house.reopen().recover()


@pytest.mark.parametrize(
    "text",
    [
        "The key is AKIAIOSFODNN7EXAMPLE # pragma: allowlist secret",
        "https://me:correcthorse1@example.org/x",
        'password = "correct-horse-battery"  # nosec',
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_a_credential_is_found_whatever_the_text_says_of_itself(text: str) -> None:
    assert find_secret(f"words\n{text}\n") is not None


@pytest.mark.parametrize(
    "text",
    [
        "The password is kept in the vault",
        "VITE_FIREBASE_API_KEY is set in .env",
        "Fixed in 2296a1afdeadbeef2296a1afdeadbeef2296a1af",
        "The resolver is 8.8.8.8",
    ],
)
def test_what_only_looks_like_one_may_be_kept(text: str) -> None:
    assert find_secret(text) is None
