"""What machines send one another: bounded, lawful, with its origins; all else is refused with a reason."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from extractord.core.fleet import (
    Claim,
    Generation,
    Receipt,
    Roots,
    claim_topic,
    is_claim_topic,
    is_person,
    memory_topic,
    partition_of,
    root_in,
    roots_topic,
    said,
    sender_of,
    windows_topic,
)
from extractord.core.project import is_slug, slug_of
from extractord.core.records import Entry, Exchange, Origin, Project, Role, Window
from extractord.core.sending import (
    PACKED_BYTES,
    UNPACKED_BYTES,
    Parcel,
    Refused,
    Sending,
    halves,
    id_of,
    pack,
    unpack,
)
from extractord.core.tiers import by_exchange, excerpts, fitted, leaned

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ENTRY = Entry(
    id="a1", agent="codex", session="s1", role=Role.USER, origin=Origin.HUMAN, text="no pasta", time=NOW,
    pastes=((0, 2),),
)  # fmt: skip
SENDING = Sending(
    forwarder="0123456789abcdef",
    previous="",
    agent="codex",
    session="s1",
    slug=slug_of("/home/ann/shop"),
    is_project=True,
    minutes=60,
    parcels=(Parcel(key="a1", entries=(ENTRY,)),),
)


def test_a_window_arrives_with_the_origin_of_each_entry() -> None:
    arrived = unpack(pack(SENDING))
    assert arrived == SENDING
    assert isinstance(arrived, Sending)
    assert arrived.window.exchanges[0].entries == (ENTRY,)
    assert arrived.window.project.slug == SENDING.slug
    assert arrived.zone.utcoffset(None) == timedelta(hours=1)


@pytest.mark.parametrize(
    ("sending", "reason"),
    [
        (replace(SENDING, slug="../../etc-0123456789abcdef"), "folder"),
        (replace(SENDING, slug="shop"), "folder"),
        (replace(SENDING, agent="a/b"), "name"),
        (replace(SENDING, session="s\n1"), "name"),
        (replace(SENDING, parcels=SENDING.parcels * 2), "twice"),
        (replace(SENDING, session="other"), "another session"),
        (replace(SENDING, parcels=(Parcel(key="k", entries=(replace(ENTRY, pastes=((3, 99),)),)),)), "paste"),
        (
            replace(
                SENDING, parcels=(Parcel(key="k", entries=(replace(ENTRY, time=NOW.replace(tzinfo=None)),)),)
            ),
            "time",
        ),
        (replace(SENDING, parcels=()), "not a window"),
        (replace(SENDING, forwarder="../x"), "not a window"),
        (replace(SENDING, minutes=100_000), "not a window"),
    ],
)
def test_what_is_no_lawful_window_is_refused_with_a_reason(sending: Sending, reason: str) -> None:
    refused = unpack(pack(sending))
    assert isinstance(refused, Refused)
    assert reason in refused.reason


def test_a_bomb_is_refused_before_it_is_unpacked_and_so_is_what_is_too_long() -> None:
    bomb = zstandard.ZstdCompressor().compress(b"\0" * (UNPACKED_BYTES * 4))
    assert len(bomb) < PACKED_BYTES
    assert unpack(bomb) == Refused(f"more than {UNPACKED_BYTES} bytes, unpacked")
    assert unpack(b"\0" * (PACKED_BYTES + 1)) == Refused(f"more than {PACKED_BYTES} bytes")


@given(st.binary(max_size=300))
def test_no_bytes_raise(raw: bytes) -> None:
    assert isinstance(unpack(raw), Refused)
    assert isinstance(unpack(zstandard.ZstdCompressor().compress(raw)), Refused)


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_message_raises(value: object) -> None:
    try:
        raw = msgspec.msgpack.encode(value)
    except OverflowError:
        return
    assert isinstance(unpack(zstandard.ZstdCompressor().compress(raw)), Refused)


@pytest.mark.parametrize("kind", [Receipt, Roots, Generation, Claim])
@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"nonsense",
        b'{"type":"\xff"}',
        b'{"a":' * 1500,
        b'{"type":"fleet/roots","paths":["\xff"]}',
        b'{"type":"fleet/roots","paths":[],"a":' + b"[" * 100_000,
        b'{"type":"fleet/receipt","a":' + b"[" * 8000,
        b'{"type":"fleet/generation","number":0,"a":' + b"[" * 8000,
        b'{"type":"fleet/generation","number":9223372036854775808}',
        b'{"type":"fleet/claim","name":"one","partitions":[1]}',
        b'{"type":"fleet/claim","name":"a\nb","partitions":[1],"since":"2026-11-30T12:00:00Z"}',
        b'{"type":"fleet/claim","name":"one","partitions":[256],"since":"2026-11-30T12:00:00Z"}',
        b'{"type":"fleet/claim","name":"one","partitions":[1],"since":"2026-11-30T12:00:00"}',
    ],
)
def test_what_a_broker_brings_is_a_word_of_ours_or_nothing(payload: bytes, kind: type[Struct]) -> None:
    assert said(payload, kind) is None


def test_a_word_of_ours_is_taken_with_what_later_versions_add() -> None:
    assert said(b'{"type":"fleet/receipt","windows":[],"more":[1]}', Receipt) == Receipt()
    assert said(b'{"type":"fleet/roots","paths":["a.md"]}', Roots) == Roots(paths=("a.md",))
    assert said(b'{"type":"fleet/generation","number":7}', Generation) == Generation(number=7)
    claimed = Claim(name="one", partitions=frozenset({1}), since=datetime(2026, 11, 30, 12, tzinfo=UTC))
    raw = b'{"type":"fleet/claim","name":"one","partitions":[1],"since":"2026-11-30T12:00:00Z","more":1}'
    assert said(raw, Claim) == claimed


def test_a_claim_is_an_extractors_own_topic_and_no_other() -> None:
    assert is_claim_topic(claim_topic("0123456789abcdef"))
    for name in ("", "0123456789ABCDEF", "0123456789abcdef/x", "$(id)", "0123456789abcdef0"):
        assert not is_claim_topic(claim_topic(name))


def test_the_topic_says_whose_it_is_and_only_in_that_persons_partition() -> None:
    topic = windows_topic("ann@desk", 16)
    assert topic == f"extractord/v1/fleet/windows/{partition_of('ann@desk', 16)}/ann@desk"
    assert sender_of(topic, 16) == "ann@desk"
    other = (partition_of("ann@desk", 16) + 1) % 16
    assert sender_of(f"extractord/v1/fleet/windows/{other}/ann@desk", 16) is None
    assert sender_of(topic.replace("ann@desk", "../ann"), 16) is None
    assert [is_person(name) for name in ("ann@desk", "a", "", ".a", "A", "a/b", "a" * 65)] == [
        True, True, False, False, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["a.md", "deep/er/a b.md", "c+d, (e).md", "größe/中文.md"])
def test_a_memorys_topic_is_its_root_and_path_whatever_they_are_called(path: str) -> None:
    for root in ("user", f"projects/{SENDING.slug}", f"projects/{slug_of('/home/ann/größe')}"):
        topic = memory_topic("ann@desk", root, path)
        assert not set(topic) & set("+#")
        assert root_in(topic, "memories", "ann@desk") == (root, path)
        assert root_in(roots_topic("ann@desk", root), "roots", "ann@desk") == (root, "")
        assert root_in(topic, "memories", "bob@desk") is None


@pytest.mark.parametrize(
    "root", ["projects/..", "projects/x", "projects/%2e%2e-0123456789abcdef", "state", ""]
)
def test_a_topic_of_another_root_is_nobodys(root: str) -> None:
    assert root_in(f"extractord/v1/fleet/memories/ann@desk/{root}/a.md", "memories", "ann@desk") is None


@given(st.text(min_size=1))
def test_every_slug_is_one_and_leads_nowhere(identity: str) -> None:
    slug = slug_of(identity)
    assert is_slug(slug)
    assert "/" not in slug
    assert not slug.startswith(".")


def test_the_same_bytes_are_the_same_window_of_one_person_only() -> None:
    packed = pack(SENDING)
    assert id_of("ann@desk", packed) == id_of("ann@desk", pack(SENDING)) != id_of("bob@desk", packed)


def test_halves_keep_the_order() -> None:
    parcels = [Parcel(key=str(number), entries=()) for number in range(3)]
    first, second = halves(parcels)
    assert [*first, *second] == parcels
    assert len(first) == 2


def test_what_was_cut_for_the_way_is_not_cut_again_where_it_arrives() -> None:
    """The brief that an extractor composes shows what a daemon beside the agent would show."""
    long = "\n".join(f"line {number} of it" for number in range(20_000))
    entries = (
        replace(ENTRY, text="We deploy only on Tuesdays.", pastes=()),
        replace(ENTRY, id="a2", role=Role.TOOL, origin=Origin.SYNTHETIC, text=long, pastes=()),
        replace(
            ENTRY,
            id="a3",
            role=Role.ASSISTANT,
            origin=Origin.SYNTHETIC,
            text="Noted.",
            pastes=(),
            cwd="/home/ann",
        ),
    )
    exchange = Exchange(agent="codex", session="s1", key="a1", entries=entries, ended=True)
    project = Project(slug=SENDING.slug, identity="x", directory="/x")
    window = Window(agent="codex", session="s1", project=project, exchanges=(exchange,))
    ((key, kept),) = by_exchange(window, leaned(window, 24_000))
    assert key == "a1"
    assert [entry.id for entry in kept] == ["a1", "a2", "a3"]
    assert all(entry.cwd is None and not entry.calls for entry in kept)
    assert len(kept[1].text) < 5000 < len(long)
    again = replace(window, exchanges=(replace(exchange, entries=kept),))
    assert tuple(excerpt.entry for excerpt in excerpts(again, 24_000)) == kept
    ((_, short),) = by_exchange(window, fitted(leaned(window, 24_000), 300))
    assert short[0].text == "We deploy only on Tuesdays."
    assert sum(len(entry.text) for entry in short) < 2000
