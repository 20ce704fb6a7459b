"""What happened to a root while nobody looked: people's versions, renames, files deleted by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from shlex import quote

from extractord.core.ports import Ledger
from extractord.core.survey import Surveyed
from extractord.core.versions import Current, Tombstone
from extractord.edges.store.burying import Burying
from extractord.edges.store.roots import Roots
from extractord.policy.requests import Trust

PERSON = "person"
"""Who made a version that no run made."""
UNATTENDED = "unattended"
"""Who decided where nobody sat at a terminal, or an agent's environment was around."""
_FEW = 2
"""So many files may always be deleted by hand, however small the root."""
_NAMED = 3
_AT_ONCE = 100


class Noticing:
    """Brings the ledger up to date with a root, under the lock that the caller holds."""

    def __init__(self, roots: Roots, ledger: Ledger, burying: Burying) -> None:
        self._roots = roots
        self._ledger = ledger
        self._burying = burying

    def notice(self, root: str, surveyed: Sequence[Surveyed], now: datetime) -> str:
        """Given a survey, keep what people wrote, follow what they renamed, bury what they deleted.

        Where all files of a root, or more than a quarter of them and more than two, are gone at
        once, that is no deletion: nothing is buried or forgotten, and the answer is a sentence that
        says so, with a command for each of them. Else it is empty.
        """
        versions = self._ledger.versions
        rows = {row.path: row for row in surveyed}
        current = versions.current(root)
        changed = [
            row
            for row in rows.values()
            if row.sha256 and (row.path not in current or current[row.path].sha256 != row.sha256)
        ]
        gone = {path: known for path, known in current.items() if path not in rows}
        if not changed and not gone:
            return ""
        moved = _moved(gone, changed, current)
        lost = [path for path in gone if path not in moved]
        is_bare = not rows and not self._roots.index(root)
        vanished = len(lost) > max(_FEW, len(current) // 4) or (is_bare and bool(lost))
        buried: list[Tombstone] = []
        with self._ledger.transaction():
            for old, new in moved.items():
                self._move(root, old, new, gone[old], now)
            for path in [] if vanished else lost:
                buried += self._burying.stones(root, path, "deleted", now)
                versions.set_current(root, path, None)
                versions.note(root, path, None, PERSON, None, now)
            versions.bury(buried)
        self._burying.register(buried)
        written = [row for row in changed if row.path not in moved.values()]
        for some in _batches(written):  # another connection waits for no more than a few
            with self._ledger.transaction():
                for row in some:
                    self._keep(root, row, current.get(row.path), now)
        if not vanished:
            return ""
        return (
            f"{root}: {len(lost)} of {len(current)} memories are gone at once; nothing was forgotten. "
            "Put the files back, or forget each: "
            + ", ".join(f"`extractord memories forget {quote(f'{root}/{path}')}`" for path in lost[:_NAMED])
            + (f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else "")
        )

    def _keep(self, root: str, row: Surveyed, known: Current | None, now: datetime) -> None:
        raw = self._roots.raw(root, row.path)
        if raw is None:
            return
        versions = self._ledger.versions
        sha256 = versions.keep(raw)
        versions.note(root, row.path, sha256, PERSON, Trust.INFERRED, now)
        versions.set_current(
            root,
            row.path,
            Current(
                sha256=sha256, trust=Trust.INFERRED, foreign=True, pinned=known is not None and known.pinned
            ),
        )

    def _move(self, root: str, old: str, new: str, known: Current, now: datetime) -> None:
        versions = self._ledger.versions
        versions.prove(root, new, versions.proofs(root, old))
        versions.set_current(root, old, None)
        versions.set_current(root, new, known)
        versions.note(root, old, None, PERSON, None, now)
        versions.note(root, new, known.sha256, PERSON, known.trust, now)


def _batches(rows: Sequence[Surveyed]) -> Iterator[Sequence[Surveyed]]:
    return (rows[begin : begin + _AT_ONCE] for begin in range(0, len(rows), _AT_ONCE))


def _moved(
    gone: Mapping[str, Current], changed: Sequence[Surveyed], current: Mapping[str, Current]
) -> dict[str, str]:
    """Old and new path of each file that is gone here and new there, with the same bytes."""
    places: dict[str, list[str]] = {}
    for row in changed:
        if row.path not in current:
            places.setdefault(row.sha256, []).append(row.path)
    moved = {}
    for path, known in gone.items():
        if places.get(known.sha256):
            moved[path] = places[known.sha256].pop(0)
    return moved
