"""The state directory: its owner, its identity, its one daemon, its memory directory."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from extractord.edges.state import Daemon, Identity, State, daemon_of
from extractord.errors import EXIT_RUNNING, AlreadyRunning, ConfigError, StoreError

HOLDER = """
import sys, time
from pathlib import Path
from extractord.edges.state import State

state = State.open(Path(sys.argv[1]))
state.lock()
print("locked", flush=True)
time.sleep(60)
"""


def files(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in directory.iterdir()}


def test_it_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    place = tmp_path / "a" / "state"
    with State.open(place) as state:
        assert state.directory == place
        assert len(bytes.fromhex(state.identity.id)) == 16
        assert len(state.identity.key) == 32
    assert place.stat().st_mode & 0o777 == 0o700
    assert files(place) == {"identity": 0o600}


def test_an_identity_is_written_once(tmp_path: Path) -> None:
    first = State.open(tmp_path / "one").identity
    before = (tmp_path / "one" / "identity").read_bytes()
    assert State.open(tmp_path / "one").identity == first
    assert (tmp_path / "one" / "identity").read_bytes() == before
    other = State.open(tmp_path / "two").identity
    assert (other.id != first.id, other.key != first.key) == (True, True)


def test_of_many_that_begin_at_once_all_have_the_first_ones_identity(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: State.open(tmp_path / "state").identity, range(32)))
    assert len({identity.id for identity in found}) == 1
    assert files(tmp_path / "state") == {"identity": 0o600}


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"id": "a"}', b"[]"])
def test_a_damaged_identity_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "identity").write_bytes(content)
    (tmp_path / "identity").chmod(0o600)
    with pytest.raises(ConfigError, match=r"identity is damaged.*from a backup"):
        State.open(tmp_path)
    assert (tmp_path / "identity").read_bytes() == content


def test_a_key_that_others_can_read_is_refused_until_it_is_closed_to_them(tmp_path: Path) -> None:
    identity = State.open(tmp_path).identity
    (tmp_path / "identity").chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        State.open(tmp_path)
    (tmp_path / "identity").chmod(0o600)
    assert State.open(tmp_path).identity == identity


def test_an_identity_that_is_a_link_is_refused(tmp_path: Path) -> None:
    content = msgspec.json.encode(Identity(id="0" * 32, key=b"k" * 32))
    (tmp_path / "elsewhere").write_bytes(content)
    (tmp_path / "elsewhere").chmod(0o600)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "identity").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError):
        State.open(tmp_path / "state")


def test_a_directory_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    State.open(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777, 0o702])
def test_a_directory_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(ConfigError, match=r"written by others.*chmod 700"):
        State.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_directory_is_refused_and_the_directory_itself_is_not(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ConfigError, match=rf"is a link.*{tmp_path / 'real'} itself"):
        State.open(tmp_path / "link")
    assert State.open(tmp_path / "real").directory == tmp_path / "real"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, -1)
    with pytest.raises(ConfigError, match=r"another user .uid 12345"):
        State.open(tmp_path)


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(ConfigError, match="cannot be used"):
        State.open(tmp_path / "state")


def test_one_daemon_serves_a_state_and_its_end_frees_it(tmp_path: Path) -> None:
    with State.open(tmp_path) as one, State.open(tmp_path) as other:
        assert daemon_of(tmp_path) is None
        one.lock()
        assert daemon_of(tmp_path) == Daemon(os.getpid())
        with pytest.raises(
            AlreadyRunning, match=rf"process {os.getpid()}\b.*EXTRACTORD_STATE_DIR"
        ) as refused:
            other.lock()
        assert refused.value.exit_code == EXIT_RUNNING
        one.close()
        assert daemon_of(tmp_path) is None
        other.lock()
        assert daemon_of(tmp_path) == Daemon(os.getpid())


def test_kill_9_frees_the_lock(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "locked\n"
            assert daemon_of(tmp_path) == Daemon(holder.pid)
            with State.open(tmp_path) as state, pytest.raises(AlreadyRunning, match=f"process {holder.pid}"):
                state.lock()
        finally:
            holder.send_signal(signal.SIGKILL)
    assert daemon_of(tmp_path) is None
    with State.open(tmp_path) as state:
        state.lock()


def test_who_looks_makes_nothing_and_keeps_no_daemon_from_starting(tmp_path: Path) -> None:
    assert daemon_of(tmp_path / "nowhere") is None
    assert list(tmp_path.iterdir()) == []
    stop = time.monotonic() + 0.3
    with ThreadPoolExecutor(2) as pool:
        State.open(tmp_path)
        (tmp_path / "lock").touch()

        def look() -> None:
            while time.monotonic() < stop:
                daemon_of(tmp_path)

        looking = [pool.submit(look) for _ in range(2)]
        for _ in range(10):
            with State.open(tmp_path) as state:
                state.lock()
        for each in looking:
            each.result()


def test_who_looks_for_long_keeps_no_daemon_from_starting_either(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    looking = os.open(tmp_path / "lock", os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)

    def looks() -> None:
        time.sleep(1)
        os.close(looking)

    with State.open(tmp_path) as state, ThreadPoolExecutor(1) as pool:
        ended = pool.submit(looks)
        state.lock()
        assert daemon_of(tmp_path) == Daemon(os.getpid())
        ended.result()


def test_a_memory_directory_belongs_to_the_state_that_came_first(tmp_path: Path) -> None:
    one, other = State.open(tmp_path / "one"), State.open(tmp_path / "two")
    memory = tmp_path / "memory"
    one.claim_memory(memory)
    one.claim_memory(memory)
    assert memory.stat().st_mode & 0o777 == 0o700
    assert files(memory) == {".extractord": 0o600}
    with pytest.raises(StoreError) as refused:
        other.claim_memory(memory)
    assert str(refused.value) == (
        f"{memory} belongs to the state {one.identity.id[:8]}, and this one is {other.identity.id[:8]}: a "
        "memory directory has one ledger; run `extractord project adopt` to make it this one's"
    )
    assert (memory / ".extractord").read_text() == one.identity.id + "\n"


def test_a_memory_directory_can_be_adopted(tmp_path: Path) -> None:
    one, other = State.open(tmp_path / "one"), State.open(tmp_path / "two")
    memory = tmp_path / "memory"
    one.claim_memory(memory)
    other.adopt_memory(memory)
    other.claim_memory(memory)
    assert files(memory) == {".extractord": 0o600}
    with pytest.raises(StoreError, match="project adopt"):
        one.claim_memory(memory)


def test_a_marker_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    state = State.open(tmp_path / "state")
    memory = tmp_path / "memory"
    memory.mkdir()
    (tmp_path / "mine").write_text(state.identity.id)
    (memory / ".extractord").symlink_to(tmp_path / "mine")
    with pytest.raises(StoreError, match="cannot be used"):
        state.claim_memory(memory)


def test_what_many_exclude_at_once_is_all_excluded(tmp_path: Path) -> None:
    wanted = {f"/nowhere/{number}" for number in range(24)}

    def exclude(directory: str) -> None:
        State.open(tmp_path / "state").exclude(directory, excluded=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(exclude, wanted))
    assert set(State.open(tmp_path / "state").excluded()) == wanted
