"""A project's root under another name, or its memories beside those of a root that is there."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from extractord.core.ports import Ledger
from extractord.core.records import Project
from extractord.core.survey import USER_ROOT
from extractord.durable import sync_at
from extractord.edges.store.burying import Burying
from extractord.edges.store.merging import merge_of
from extractord.edges.store.noticing import UNATTENDED, Noticing
from extractord.edges.store.placing import Placing
from extractord.edges.store.roots import Roots
from extractord.errors import StoreError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """Moves under the store's lock, which its caller holds."""

    memory: Path
    roots: Roots
    ledger: Ledger
    noticing: Noticing
    placing: Placing
    burying: Burying

    def move(self, old: str, new: str, project: Project, by: str, now: datetime) -> Mapping[str, str]:
        """Give a root another name; return what is called otherwise in it, where it was there already.

        Raise UsageError where there is nothing to move.
        """
        source, target = self.memory / old, self.memory / new
        if not source.is_dir():
            raise UsageError(f"{old} has no memories: `extractord project list` names those that have")
        if target.exists():
            return self._merge(old, new, project, by, now)
        rehoming = self.ledger.rehoming
        rehoming.begin_move(old, new, project)
        try:
            source.rename(target)
            sync_at(target.parent)
        except OSError as error:
            rehoming.end_move(old)
            raise StoreError(f"{source} cannot be moved: {error.strerror}") from error
        self.finish(now, by)
        return {}

    def _merge(self, old: str, new: str, project: Project, by: str, now: datetime) -> Mapping[str, str]:
        """All of it or nothing, as any commit; the old root goes where nothing else is in it."""
        for root in (old, new):
            warning = self.noticing.notice(root, self.roots.survey(root), now)
            if warning:
                raise UsageError(warning)
        merge = merge_of(self.roots, self.ledger.versions, old, new)
        renamed = {path: name for path, name in merge.names.items() if path != name}

        def also() -> None:
            self.ledger.rehoming.merge(old, new, project, merge.names)
            self.ledger.rehoming.begin_move(old, new, project)
            self.ledger.audit.note("move", by, {"old": old, "new": new, "renamed": renamed}, now)

        self.placing.carry_out(by, merge.placements, now, also)
        self.finish(now, by)
        return renamed

    def finish(self, now: datetime, by: str = UNATTENDED) -> None:
        """Tell the ledger of roots that have another name now; drop moves that did not come about.

        A root whose memories went to another one goes too.
        """
        for old, new, project in self.ledger.rehoming.open_moves():
            source, is_there = self.memory / old, (self.memory / new).is_dir()
            is_moved = is_there and not source.exists()
            if is_there:
                self._drop(old)
            with self.ledger.transaction():
                if is_moved:
                    self.ledger.rehoming.move(old, new, project)
                    self.ledger.audit.note("move", by, {"old": old, "new": new}, now)
                else:
                    self.ledger.rehoming.end_move(old)
            self.burying.level()

    def drop(self, root: str, before: datetime) -> None:
        """Remove a root that runs left empty, unless it is newer: somebody may be about to fill it."""
        with suppress(OSError):
            if (self.memory / root).stat().st_mtime < before.timestamp():
                self._drop(root)

    def _drop(self, root: str) -> None:
        if root != USER_ROOT and not self.ledger.versions.current(root):
            with suppress(OSError):  # a person's own files, or lines of the index, stay where they are
                (self.memory / root).rmdir()
