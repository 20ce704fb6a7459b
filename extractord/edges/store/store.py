"""The one writer: commits change-sets, notices people's edits, keeps and forgets memories."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import structs

from extractord.core.changeset import INDEX
from extractord.core.foreign import objection
from extractord.core.ports import Expired, Folder, Ledger
from extractord.core.records import Change, Outcome, Project
from extractord.core.survey import Surveyed, place_of
from extractord.core.versions import Current, Tombstone
from extractord.edges.store.burying import Burying
from extractord.edges.store.committing import Committed, Committing
from extractord.edges.store.lock import DEADLINE_S, locked
from extractord.edges.store.moving import Moving
from extractord.edges.store.noticing import PERSON, UNATTENDED, Noticing
from extractord.edges.store.placing import Placement, Placing
from extractord.edges.store.register import Register
from extractord.edges.store.roots import Roots, names_of
from extractord.edges.store.secrets import find_secret
from extractord.edges.store.weighing import Context, Weighing
from extractord.errors import ConflictError, StoreError
from extractord.policy.requests import RunFacts, Trust

__all__ = ["PERSON", "UNATTENDED", "Store"]

_TRIES = 5
_PATIENCE_S = 20.0
_LEFT_EMPTY = timedelta(hours=1)


class Store:
    """Over the roots' folders and the ledger; every method that writes takes the lock on `memory`.

    Raise ConflictError where the lock is not had in 2 s, StoreError where the disk refuses.
    """

    def __init__(
        self,
        memory: Path,
        folder: Callable[[str], Folder],
        ledger: Ledger,
        identity_key: bytes,
        register: Path,
        *,
        clock: Callable[[], datetime],
        redact: Callable[[str], str],
    ) -> None:
        self._memory = memory
        self.ledger = ledger
        self.clock = clock
        self.roots = Roots(folder, ledger.versions, ledger.surveys)
        self._placing = Placing(self.roots, ledger)
        self.burying = Burying(ledger.versions, Register(register), identity_key)
        self._noticing = Noticing(self.roots, ledger, self.burying)
        self.weighing = Weighing(self.roots, ledger.versions, identity_key, find_secret)
        self._moving = Moving(
            memory=memory,
            roots=self.roots,
            ledger=ledger,
            noticing=self._noticing,
            placing=self._placing,
            burying=self.burying,
        )
        self._committing = Committing(
            roots=self.roots,
            ledger=ledger,
            noticing=self._noticing,
            weighing=self.weighing,
            placing=self._placing,
            burying=self.burying,
            redact=redact,
        )

    def names(self) -> tuple[str, ...]:
        """Return the names of the roots that are there, the user's first."""
        return names_of(self._memory)

    def survey(self, root: str) -> tuple[Surveyed, ...]:
        """Return a row for each memory of a root, sorted by path; changes nothing."""
        return self.roots.survey(root)

    def recover(self, warn: Callable[[str], None] = lambda _: None) -> int:
        """Undo what a crash left half done; return how many commits that were.

        Others may be at work: the lock is waited for as long as a person would wait. `warn` is told
        of a root that cannot be used, which stops no other, and of a tombstone that was cut short.
        """
        with self._locked(_PATIENCE_S) as recovered:
            for root in self.names():
                try:
                    self.roots.folder(root).sweep()
                except StoreError as error:
                    warn(str(error))
                self._moving.drop(root, before=self.clock() - _LEFT_EMPTY)
            torn = self.burying.level()
        if torn:
            warn(torn)
        return recovered

    def rebuild(self, aside: str) -> None:
        """The ledger is new, and the old one kept as `aside`: the audit begins with that."""
        self.ledger.audit.note("rebuilt", PERSON, {"aside": aside}, self.clock())

    def notice(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Keep what people wrote, renamed and deleted, and bring the indexes up to date.

        Return a warning for each root whose files are gone as no person deletes them.
        """
        now = self.clock()
        with self._locked():
            warnings = []
            for root in roots:
                rows = self.roots.survey(root)
                warnings.append(self._noticing.notice(root, rows, now))
                self._placing.reindex(root, rows)
                self.roots.keep(root, now)
        return tuple(warning for warning in warnings if warning)

    def expire(
        self, history: datetime | None, rows: datetime | None, runs: datetime | None = None
    ) -> Expired:
        """Let versions, audit rows and runs go that are older than these moments; return what went."""
        with self._locked():
            return self.ledger.retention.expire(history, rows, runs, self.clock())

    def witness(self, places: Iterable[str]) -> None:
        """A transcript shows that an agent wrote these files: they rank as that agent's own text.

        Where a run's change on that evidence would be held, the file stays on disk, but out of
        index, brief and injection until a person accepts it (DESIGN §5). `places` are below
        <memory>; what is no memory is passed over.
        """
        written: dict[str, set[str]] = {}
        for place in places:
            root, path = place_of(place)
            if root in self.names() and path.endswith(".md") and path != INDEX:
                written.setdefault(root, set()).add(path)
        self.notice(written)
        with self._locked():
            for root, paths in written.items():
                self._witness(root, paths)

    def _witness(self, root: str, paths: Container[str]) -> None:
        evidence = RunFacts(trust=Trust.INFERRED, reason="an agent wrote it")
        for row in self.roots.survey(root):
            if row.path not in paths or not row.foreign or row.fault:
                continue
            text = self.roots.text(root, row.path) or ""
            current = Current(
                sha256=row.sha256,
                trust=Trust.INFERRED,
                foreign=True,
                pinned=row.pinned,
                withheld=objection(root, row.path, text, evidence),
            )
            with self.ledger.transaction():
                self.ledger.versions.set_current(root, row.path, current)
        self._placing.reindex(root, self.roots.survey(root))

    def commit(self, changes: Sequence[Change], context: Context) -> Committed:
        """Given a run's change-set, put what the law allows on disk, hold what it holds.

        The run's ranges are closed in the transaction that ends it. A lock that is not had is
        `failed`, reason `busy`; a lost claim `aborted`; a file that somebody changed since the
        run looked `conflict`: then nothing is written.
        """
        with ExitStack() as held:
            try:
                held.enter_context(self._locked())
            except ConflictError:
                return Committed(outcome=Outcome.FAILED, reason="busy")
            for _ in range(_TRIES):
                with suppress(ConflictError):  # a file changed under our hands: weigh it all again
                    return self._committing.commit(changes, context, self.clock())
            return Committed(outcome=Outcome.CONFLICT, reason="files change all the time")

    @contextmanager
    def deciding(self, root: str | None = None) -> Iterator[None]:
        """Hold the lock while a person's decision is read and written; a root named is noticed first."""
        with self._locked():
            if root is not None:
                self._noticing.notice(root, self.roots.survey(root), self.clock())
            yield

    def place(
        self,
        placements: Sequence[Placement],
        by: str,
        kind: str,
        stones: Sequence[Tombstone] = (),
        settle: Callable[[], None] = lambda: None,
    ) -> None:
        """Carry out what a person decided (accept, forget, restore, edit), by compare-and-swap.

        `settle` joins its transaction. Raise ConflictError, with nothing written, where a file is
        not as `before` says.
        """
        now = self.clock()
        with self._locked():
            for root in dict.fromkeys(one.root for one in placements):
                self._noticing.notice(root, self.roots.survey(root), now)
            for one in placements:
                if self.roots.raw(one.root, one.path) != one.before:
                    raise ConflictError(f"{one.root}/{one.path} changed meanwhile; nothing was written")
            placements = [self._still_pinned(one) for one in placements]
            files = [f"{one.root}/{one.path}" for one in placements]

            def also() -> None:
                self.ledger.versions.bury(stones)
                self.ledger.audit.note(kind, by, {"paths": files}, now)
                settle()

            self._placing.carry_out(by, placements, now, also)
            self.burying.register(stones)

    def _still_pinned(self, one: Placement) -> Placement:
        """What a person pinned stays so, whatever they put in its place."""
        known = self.ledger.versions.current(one.root).get(one.path)
        if known is None or one.current is None:
            return one
        return replace(one, current=structs.replace(one.current, pinned=known.pinned))

    def move(self, old: str, new: str, project: Project, by: str = PERSON) -> Mapping[str, str]:
        """Give a project's root another name, with all that is known of it; return what is called otherwise.

        Where that root is there already, its memories come to those that it has. Raise UsageError where
        there is nothing to move.
        """
        with self._locked():
            return self._moving.move(old, new, project, by, self.clock())

    @contextmanager
    def _locked(self, deadline_s: float = DEADLINE_S) -> Iterator[int]:
        with locked(self._memory, deadline_s):
            self._moving.finish(self.clock())
            yield self._placing.recover(self.clock())
