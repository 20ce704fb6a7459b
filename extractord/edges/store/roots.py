"""The roots as they stand: read through their folders, known through the ledger, cached by stat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from extractord.core.changeset import INDEX, decode
from extractord.core.foreign import LAW, objection
from extractord.core.index import Listed
from extractord.core.memory import unstamp
from extractord.core.ports import Folder, Versions
from extractord.core.survey import USER_ROOT, Surveyed, at_fault, survey
from extractord.core.versions import Current
from extractord.errors import StoreError
from extractord.policy.requests import Found, PathFacts, Trust

INDEX_BYTES = 4 * 1024 * 1024
"""An index above this is left alone."""


@dataclass(frozen=True, slots=True)
class _Cached:
    stat: tuple[int, int, int]
    bare: Surveyed
    """As the bytes say it; `withheld` is what the law says about foreign ones."""
    current: Current | None
    row: Surveyed
    """With what the ledger knows."""

    def holds(self, stat: tuple[int, int, int], current: Current | None) -> bool:
        """True if the file need not be read again: what was ours was not judged."""
        return self.stat == stat and (self.row.foreign or not _is_foreign(self.bare, current))


class Roots:
    """Every memory root, by its name: `user` or `projects/<slug>`."""

    def __init__(self, folder: Callable[[str], Folder], versions: Versions) -> None:
        self.folder = folder
        self._versions = versions
        self._cache: dict[str, dict[str, _Cached]] = {}

    def survey(self, root: str) -> tuple[Surveyed, ...]:
        """Return a row for each Markdown file of the root but the index, sorted by path.

        What cannot be read, decoded or parsed is a row at fault; the others are served. Only
        files whose stat or standing changed since the last survey are read.
        """
        folder, current = self.folder(root), self._versions.current(root)
        before, now = self._cache.get(root, {}), dict[str, _Cached]()
        for path, stat in folder.stats().items():
            cached, known = before.get(path), current.get(path)
            if path == INDEX:
                continue
            if cached is None or not cached.holds(stat, known):
                bare = _look(folder, root, path, stat, known)
                cached = _Cached(stat, bare, known, _standing(bare, known))
            elif cached.current != known:
                cached = _Cached(stat, cached.bare, known, _standing(cached.bare, known))
            now[path] = cached
        self._cache[root] = now
        return tuple(cached.row for cached in now.values())

    def raw(self, root: str, path: str) -> bytes | None:
        """Return a memory's bytes; None where there is none. Raise StoreError where unreadable."""
        folder = self.folder(root)
        if folder.stat(path) is None and folder.facts(path).found is Found.NOTHING:
            return None
        return folder.read(path, LAW.read_bytes)

    def text(self, root: str, path: str) -> str | None:
        """Return a memory's text without our stamps; None where there is none."""
        raw = self.raw(root, path)
        return None if raw is None else unstamp(decode(path, raw))

    def index(self, root: str) -> str | None:
        """Return the index as it stands, empty where there is none; None where it is to be left alone."""
        folder = self.folder(root)
        if folder.stat(INDEX) is None:
            return "" if folder.facts(INDEX).found is Found.NOTHING else None
        try:
            return decode(INDEX, folder.read(INDEX, INDEX_BYTES))
        except StoreError:
            return None

    def said_before(self, root: str, path: str) -> list[Listed]:
        """Return the memory at `path` as its versions were: what our index lines may have said."""
        shas = dict.fromkeys(version.sha256 for version in self._versions.history(root, path))
        raws = (self._versions.content(sha) for sha in shas if sha is not None)
        return [survey(path, raw, 0).listed for raw in raws if raw is not None]


def _look(
    folder: Folder, root: str, path: str, stat: tuple[int, int, int], current: Current | None
) -> Surveyed:
    """The row of a file by its bytes, judged where they are foreign."""
    size, mtime_ns, _ = stat
    try:
        raw = folder.read(path, LAW.read_bytes)
    except StoreError as error:
        return at_fault(path, size, mtime_ns, str(error))
    row = survey(path, raw, mtime_ns)
    if row.fault or not _is_foreign(row, current):
        return row
    return structs.replace(row, withheld=objection(root, path, unstamp(decode(path, raw))))


def _is_foreign(bare: Surveyed, current: Current | None) -> bool:
    return current is None or current.foreign or current.sha256 != bare.sha256


def _standing(bare: Surveyed, current: Current | None) -> Surveyed:
    """The row with what the ledger knows."""
    pinned = current is not None and current.pinned
    if bare.fault:
        return structs.replace(bare, pinned=pinned)
    if current is None or current.sha256 != bare.sha256:
        return structs.replace(bare, trust=Trust.INFERRED, foreign=True, pinned=pinned)
    return structs.replace(
        bare,
        trust=current.trust,
        foreign=current.foreign,
        pinned=pinned,
        withheld=current.withheld or (bare.withheld if current.foreign else ""),
    )


def listed(rows: Sequence[Surveyed]) -> list[Listed]:
    """Given a survey, return what belongs in the index, oldest first."""
    return [row.listed for row in sorted(rows, key=lambda row: (row.mtime_ns, row.path)) if not row.withheld]


def names_of(memory: Path) -> tuple[str, ...]:
    """Given the memory directory, return the names of the roots that are there, the user's first."""
    found = [USER_ROOT] if (memory / USER_ROOT).is_dir() else []
    below = memory / "projects"
    if below.is_dir():
        found += sorted(
            f"projects/{place.name}"
            for place in below.iterdir()
            if place.is_dir() and not place.is_symlink() and not place.name.startswith(".")
        )
    return tuple(found)


def path_facts(facts: PathFacts, text: str | None, row: Surveyed | None) -> PathFacts:
    """Given what the disk says, return it with the text, and with what the ledger knows."""
    if row is None or text is None:
        return replace(facts, text=text)
    return replace(facts, text=text, trust=row.trust, foreign=row.foreign, pinned=row.pinned)
