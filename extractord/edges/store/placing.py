"""Putting versions in their places: all of them or, after a crash or a fault, none."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from extractord.core.changeset import INDEX
from extractord.core.digesting import digest
from extractord.core.index import derive
from extractord.core.ports import Ledger
from extractord.core.survey import Surveyed, survey
from extractord.core.versions import Current, Intent, Placed, Proof
from extractord.edges.store.noticing import PERSON
from extractord.edges.store.roots import INDEX_BYTES, Roots, listed
from extractord.errors import ConflictError, ExtractordError
from extractord.policy.requests import Found, Trust


@dataclass(frozen=True, slots=True)
class Placement:
    """A memory's bytes before and after, None for no file, and what is known about them then."""

    root: str
    path: str
    before: bytes | None
    after: bytes | None
    current: Current | None
    proofs: tuple[Proof, ...] = ()


class Placing:
    """Carries placements out, under the lock that the caller holds."""

    def __init__(self, roots: Roots, ledger: Ledger) -> None:
        self._roots = roots
        self._ledger = ledger

    def carry_out(
        self, by: str, placements: Sequence[Placement], now: datetime, also: Callable[[], None]
    ) -> None:
        """Write and remove files, rewrite the indexes, and tell the ledger; `also` joins its transaction.

        A fault on the way puts everything back, and is raised with every root as it was.
        """
        versions = self._ledger.versions
        files = [*placements, *self._indexes(placements)]
        with self._ledger.transaction():
            placed = [self._kept(file) for file in files]
            number = versions.begin(by, placed, now)
        intent = Intent(id=number, run=by, placed=tuple(placed))
        try:
            steps = zip(files, placed, strict=True)
            for file, step in sorted(steps, key=lambda each: (each[0].path == INDEX, each[0].after is None)):
                self._put(file.root, file.path, file.before, file.after, step.token)
            for root in dict.fromkeys(file.root for file in files):
                self._roots.folder(root).settle(file.path for file in files if file.root == root)
            with self._ledger.transaction():
                for file in placements:
                    self._tell(file, by, now)
                also()
                versions.end(number)
        except ExtractordError:
            with suppress(ExtractordError):  # what cannot be put back now is when the lock is next had
                self._take_back(intent, now)
            raise

    def _tell(self, file: Placement, by: str, now: datetime) -> None:
        """Let the ledger know what stands at a place from now on."""
        versions, after = self._ledger.versions, file.after
        versions.set_current(file.root, file.path, file.current)
        versions.prove(file.root, file.path, file.proofs)
        trust = file.current.trust if file.current else None
        versions.note(file.root, file.path, None if after is None else digest(after), by, trust, now)

    def recover(self, now: datetime) -> int:
        """Undo what a crash left half done; return how many intents that were.

        Where a root cannot be used at all, its files wait until it can, and the intent with them.
        """
        recovered = 0
        for intent in self._ledger.versions.open_intents():
            if self._take_back(intent, now):
                self._ledger.audit.note("recovered", intent.run, {"intent": intent.id}, now)
                recovered += 1
        return recovered

    def reindex(self, root: str, rows: Sequence[Surveyed]) -> None:
        """Rewrite the root's index where it is not what it ought to be."""
        file = self._index(root, rows)
        if file is not None:
            self._put(root, INDEX, file.before, file.after)

    def _take_back(self, intent: Intent, now: datetime) -> bool:
        """Put back each file that is as the intent left it; what somebody changed since stays.

        Where the crash came in the very moment in which an edit by hand was displaced, that edit is
        what goes back. False where a root cannot be used: the others are as they were, and the intent
        stays open.
        """
        usable = {root for root in {file.root for file in intent.placed} if self._roots.is_usable(root)}
        placed = [file for file in reversed(intent.placed) if file.root in usable]
        edits = {file.token: self._displaced(file) for file in placed if file.token}
        kept = {token for token, raw in edits.items() if raw is not None}
        for root in usable:
            self._roots.folder(root).sweep(kept)  # first: what goes back may need the room
        for file in placed:
            self._put_back(file, edits.get(file.token), now)
        for root in usable if kept else ():
            self._roots.folder(root).sweep()
        if len(placed) < len(intent.placed):
            return False
        with self._ledger.transaction():
            self._ledger.versions.end(intent.id)
        return True

    def _displaced(self, file: Placed) -> bytes | None:
        """What stood in the file's place when the names were traded, if that was not what we knew."""
        folder, (is_there, current) = self._roots.folder(file.root), self._current(file)
        if file.before is None or not is_there or current != file.after:
            return None
        raw = folder.displaced(file.path, file.token)
        return None if raw is None or digest(raw) in (file.before, file.after) else raw

    def _put_back(self, file: Placed, edit: bytes | None, now: datetime) -> None:
        folder, (is_known, current) = self._roots.folder(file.root), self._current(file)
        if not is_known:
            return
        versions = self._ledger.versions
        if current == file.after and current != file.before:
            before = None if file.before is None else versions.content(file.before)
            raw = None if current is None else versions.content(current)
            try:
                self._put(file.root, file.path, raw, before if edit is None else edit)
            except ConflictError:  # somebody changed it just now: that stays, the edit is in the history
                if edit is not None and file.path != INDEX:
                    with self._ledger.transaction():
                        sha256 = versions.keep(edit)
                        versions.note(file.root, file.path, sha256, PERSON, Trust.INFERRED, now)
        elif file.before is None and current is None:
            folder.prune(file.path)  # it was to be made, and its folder was

    def _current(self, file: Placed) -> tuple[bool, str | None]:
        """Whether a file or nothing stands in the place, and its digest."""
        folder = self._roots.folder(file.root)
        there = folder.facts(file.path).found
        raw = folder.read(file.path, INDEX_BYTES) if there is Found.FILE else None
        return there in (Found.NOTHING, Found.FILE), None if raw is None else digest(raw)

    def _put(self, root: str, path: str, before: bytes | None, after: bytes | None, token: str = "") -> None:
        """Put `after` in the place of `before`. Raise ConflictError where that is not there any more."""
        folder = self._roots.folder(root)
        if after is not None:
            folder.write(path, after, before, token)
        elif before is not None:
            folder.remove(path, before, token)

    def _indexes(self, placements: Sequence[Placement]) -> list[Placement]:
        """The indexes as they will have to be where they are not so already."""
        changed = []
        for root in dict.fromkeys(file.root for file in placements):
            rows = {row.path: row for row in self._roots.survey(root)}
            newest = max((row.mtime_ns for row in rows.values()), default=0)
            for number, file in enumerate((file for file in placements if file.root == root), 1):
                rows.pop(file.path, None)
                if file.after is not None:
                    rows[file.path] = survey(file.path, file.after, newest + number)
            changed.append(self._index(root, list(rows.values())))
        return [file for file in changed if file is not None]

    def _index(self, root: str, rows: Sequence[Surveyed]) -> Placement | None:
        """The index that belongs to these rows; None where it stands so, or cannot be read."""
        current = self._roots.index(root)
        if current is None:
            return None
        wanted = derive(current, listed(rows), partial(self._roots.said_before, root))
        if wanted == current:
            return None
        there = self._roots.folder(root).stat(INDEX)
        before = None if there is None else current.encode()
        return Placement(root, INDEX, before, wanted.encode() or None, current=None)

    def _kept(self, file: Placement) -> Placed:
        """The file by its versions; their bytes are kept until the intent ends."""
        keep = self._ledger.versions.keep
        return Placed(
            root=file.root,
            path=file.path,
            before=None if file.before is None else keep(file.before),
            after=None if file.after is None else keep(file.after),
            token=secrets.token_hex(8),
        )
