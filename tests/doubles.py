"""One double for each port: what stands for the outside in every test that is not about it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import EllipsisType

from msgspec import structs

from extractord.core.changeset import twin
from extractord.core.ports import Baseline, Owner, RangeState
from extractord.core.records import Message, Project, Reply, Tool
from extractord.errors import ConflictError, StoreError
from extractord.policy.requests import Found, PathFacts, RootKind


class ScriptedModel:
    """A Model that gives the replies it was given, and keeps what it was asked.

    An exception among the replies is raised. Asked once more than it has replies for, it fails
    the test.
    """

    def __init__(self, *replies: Reply | Exception) -> None:
        self._replies = list(replies)
        self.asked: list[tuple[Message, ...]] = []
        self.tools: tuple[Tool, ...] = ()

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        self.asked.append(tuple(messages))
        self.tools = tuple(tools)
        assert self._replies, "the model was asked once too often"
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    @property
    def unused(self) -> int:
        """Replies that were not asked for."""
        return len(self._replies)


class DictView:
    """A View over dictionaries; files named in `broken` cannot be read."""

    def __init__(
        self,
        user: Mapping[str, str] | None = None,
        project: Mapping[str, str] | None = None,
        *,
        broken: Iterable[str] = (),
        facts: Mapping[tuple[RootKind, str], PathFacts] | None = None,
    ) -> None:
        self._files = {RootKind.USER: dict(user or {}), RootKind.PROJECT: dict(project or {})}
        self._broken = frozenset(broken)
        self._facts = dict(facts or {})

    def names(self, root: RootKind) -> tuple[str, ...]:
        return tuple(sorted(self._files[root]))

    def read(self, root: RootKind, path: str) -> bytes:
        if path in self._broken or path not in self._files[root]:
            raise StoreError(f"{path}: the file cannot be read")
        return self._files[root][path].encode()

    def facts(self, root: RootKind, path: str) -> PathFacts:
        given = self._facts.get((root, path))
        if given is not None:
            return given
        if path in self._files[root]:
            size = len(self._files[root][path].encode())
            return replace(PathFacts(), found=Found.FILE, size=size)
        if any(name.startswith(f"{path}/") for name in self._files[root]):
            return replace(PathFacts(), found=Found.DIRECTORY)
        return PathFacts()


class MemoryRanges:
    """`Ranges` in dicts; owners live until `gone` names them."""

    def __init__(self) -> None:
        self.cursors: dict[str, bytes] = {}
        self.roots: set[tuple[str, str]] = set()
        self.noted: dict[tuple[str, str], dict[str, Baseline]] = {}
        self.rows: dict[tuple[str, str, str], RangeState] = {}
        self.owners: dict[str, Owner] = {}
        self.gone: set[Owner] = set()
        self.projects: dict[tuple[str, str, str], Project] = {}

    def cursor(self, path: str) -> bytes | None:
        return self.cursors.get(path)

    def save_cursor(self, path: str, agent: str, session: str | None, cursor: bytes) -> None:  # noqa: ARG002
        self.cursors[path] = cursor

    def known_root(self, agent: str, root: str) -> bool:
        return (agent, root) in self.roots

    def note_root(self, agent: str, root: str) -> None:
        self.roots.add((agent, root))

    def note_baseline(self, agent: str, session: str, place: Baseline) -> None:
        self.noted.setdefault((agent, session), {})[place.path] = place

    def baselines(self, agent: str, session: str) -> tuple[Baseline, ...]:
        return tuple(self.noted.get((agent, session), {}).values())

    def states(self, agent: str, session: str) -> Mapping[str, RangeState]:
        return {key[2]: state for key, state in self.rows.items() if key[:2] == (agent, session)}

    def elsewhere(self, agent: str, session: str, keys: Iterable[str]) -> frozenset[str]:
        first: dict[str, str] = {}
        for (other, its_session, key), state in self.rows.items():
            if other == agent and state.reason != "already_seen":
                first.setdefault(key, its_session)
        return frozenset(key for key in keys if first.get(key, session) != session)

    def close(self, agent: str, session: str, keys: Iterable[str], reason: str, now: datetime) -> None:  # noqa: ARG002
        for key in keys:
            before = self.rows.get((agent, session, key))
            if before is None or before.state == "open":
                self.rows[agent, session, key] = _range(before, state="closed", reason=reason)

    def claim(
        self,
        agent: str,
        session: str,
        keys: Iterable[str],
        run: str,
        owner: Owner,
        now: datetime,  # noqa: ARG002
    ) -> bool:
        wanted = [(agent, session, key) for key in keys]
        if run in self.owners or not all(self._free(self.rows.get(key)) for key in wanted):
            return False
        self.owners[run] = owner
        for key in wanted:
            self.rows[key] = _range(self.rows.get(key), state="claimed", run=run)
        return True

    def _free(self, state: RangeState | None) -> bool:
        if state is None or state.state == "open":
            return True
        return state.state == "claimed" and self.owners.get(state.run or "") in self.gone

    def holds(self, run: str, owner: Owner) -> bool:
        return self.owners.get(run) == owner

    def close_run(self, run: str, reason: str, now: datetime) -> None:  # noqa: ARG002
        for key, before in self.rows.items():
            if before.run == run and before.state == "claimed":
                self.rows[key] = structs.replace(before, state="closed", reason=reason)

    def finish(self, run: str, reason: str, now: datetime) -> None:  # noqa: ARG002
        self._give_back(run, state="closed", reason=reason)

    def release(self, run: str, *, attempted: bool, retry_at: datetime | None, reason: str = "") -> None:
        for key, before in self.rows.items():
            if before.run == run and before.state == "claimed":
                attempts = before.attempts + attempted
                self.rows[key] = structs.replace(
                    before, state="open", reason=reason, attempts=attempts, retry_at=retry_at
                )
        self.owners.pop(run, None)

    def open_sessions(self) -> Mapping[tuple[str, str], str]:
        return {}

    def reap(self, now: datetime) -> tuple[str, ...]:  # noqa: ARG002 - the port's
        runs = tuple(run for run, owner in self.owners.items() if owner in self.gone)
        for run in runs:
            self._give_back(run, state="open", reason="process gone")
        return runs

    def reopen(self, run: str) -> int:
        keys = [key for key, state in self.rows.items() if state.run == run and state.state == "closed"]
        for key in keys:
            self.rows[key] = _range(None, state="open", reason="retry", run=run)
        if keys:
            self.cursors.clear()
        return len(keys)

    def _give_back(self, run: str, *, state: str, reason: str) -> None:
        for key, before in self.rows.items():
            if before.run == run and before.state == "claimed":
                self.rows[key] = structs.replace(before, state=state, reason=reason)
        self.owners.pop(run, None)

    def project(self, agent: str, session: str, cwd: str) -> Project | None:
        return self.projects.get((agent, session, cwd))

    def note_project(self, agent: str, session: str, cwd: str, project: Project) -> None:
        self.projects.setdefault((agent, session, cwd), project)


def _range(before: RangeState | None, *, state: str, reason: str = "", run: str | None = None) -> RangeState:
    attempts = before.attempts if before else 0
    return RangeState(state=state, reason=reason, run=run, attempts=attempts, retry_at=None)


class DictFolder:
    """A Folder over a dictionary; `break_at` cuts the n-th mutating call short with an error.

    A cut write leaves its temporary file; a cut removal is done or not, as `after` says. `edit` is
    what a person put there just before the cut: the names were traded, and it has the hidden one.
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.files: dict[str, bytes] = {}
        self.links: dict[str, bytes] = {}
        """Symbolic links, and what they lead to."""
        self.unreadable: set[str] = set()
        self.temporary: list[str] = []
        self.reads: list[str] = []
        self.writes = 0
        self._stats: dict[str, tuple[int, int, int]] = {}
        self._break: tuple[int, BaseException, bool] | None = None
        self._edit: bytes | None = None
        self.hidden: dict[str, bytes] = {}
        """What was displaced and not yet looked at, by token."""
        self.settled: list[str] = []
        self.edited: list[str] = []
        """Paths of such edits."""
        for path, raw in (files or {}).items():
            self.put(path, raw)

    def put(self, path: str, raw: bytes) -> None:
        """What a person or another program does."""
        self.files[path] = raw
        tick = max((stat[1] for stat in self._stats.values()), default=0) + 1
        self._stats[path] = (len(raw), tick, tick)

    def break_at(self, call: int, error: BaseException, *, after: bool, edit: bytes | None = None) -> None:
        self._break, self._edit = (self.writes + call, error, after), edit

    def fileno(self) -> int:
        return -1

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(path for path in self.files if path.endswith(".md")))

    def read(self, path: str, limit: int) -> bytes:
        self.reads.append(path)
        if path in self.unreadable or path not in self.files:
            raise StoreError(f"{path}: the file cannot be read")
        if len(self.files[path]) > limit:
            raise StoreError(f"{path}: the file has more than {limit} bytes")
        return self.files[path]

    def facts(self, path: str) -> PathFacts:
        if path in self.links:
            return PathFacts(found=Found.SYMLINK)
        other = twin(path, self.files)
        if path in self.files:
            return PathFacts(found=Found.FILE, size=len(self.files[path]), twin=other)
        if any(name.startswith(f"{path}/") for name in self.files):
            return PathFacts(found=Found.DIRECTORY)
        return PathFacts(twin=other)

    def stats(self) -> dict[str, tuple[int, int, int]]:
        return {path: self._stats[path] for path in self.names()}

    def stat(self, path: str) -> tuple[int, int, int] | None:
        return self._stats[path] if path in self.files else None

    def write(self, path: str, data: bytes, over: bytes | EllipsisType | None = ..., token: str = "") -> None:
        self._compare(path, over)
        self.temporary.append(path)
        self._mutate(path, token, lambda: self.put(path, data))
        self.temporary.remove(path)

    def remove(self, path: str, over: bytes | EllipsisType = ..., token: str = "") -> None:
        if path not in self.files:
            raise StoreError(f"{path}: there is no such file")
        self._compare(path, over)
        self._mutate(path, token, lambda: self.files.pop(path))

    def settle(self, paths: Iterable[str]) -> None:
        self.settled += paths

    def displaced(self, path: str, token: str) -> bytes | None:
        assert token not in self.hidden or path in self.edited
        return self.hidden.get(token)

    def sweep(self, keep: Container[str] = ()) -> None:
        self.temporary.clear()
        self.hidden = {token: raw for token, raw in self.hidden.items() if token in keep}

    def prune(self, path: str) -> None:
        assert path not in self.files

    def _compare(self, path: str, over: bytes | EllipsisType | None) -> None:
        if not isinstance(over, EllipsisType) and self.files.get(path) != over:
            raise ConflictError(f"{path} changed meanwhile")

    def _mutate(self, path: str, token: str, change: Callable[[], object]) -> None:
        self.writes += 1
        if self._break is None or self.writes != self._break[0]:
            change()
            return
        _, error, after = self._break
        if after:
            if self._edit is not None and path in self.files:
                self.hidden[token] = self._edit
                self.edited.append(path)
            change()
        raise error
