"""The roots as they stand: read through their folders, known through the ledger, cached by stat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from extractord.core.changeset import INDEX, decode
from extractord.core.digesting import digest
from extractord.core.foreign import LAW
from extractord.core.index import Listed
from extractord.core.memory import unstamp
from extractord.core.ports import Folder, Surveys, Versions
from extractord.core.search import Text, searchable
from extractord.core.survey import USER_ROOT, Surveyed, survey
from extractord.core.surveyed import Remembered
from extractord.core.versions import Current
from extractord.edges.store.law import law_version
from extractord.edges.store.looking import is_foreign, look, standing
from extractord.errors import StoreError
from extractord.policy.requests import Found, PathFacts

INDEX_BYTES = 4 * 1024 * 1024
"""An index above this is left alone."""


_SETTLED_NS = 2_000_000_000
"""A file that was written so shortly ago may change again without its stat showing it."""
_AT_ONCE = 100
_WORTH_KEEPING = 32
"""So few new rows are read again as fast as they are written down."""


@dataclass(frozen=True, slots=True)
class _Cached:
    stat: tuple[int, int, int]
    bare: Surveyed
    """As the bytes say it; `withheld` is what the law says about foreign ones."""
    current: Current | None
    row: Surveyed
    """With what the ledger knows."""
    judged: bool
    """The law was asked about the bytes."""

    def holds(self, stat: tuple[int, int, int], current: Current | None) -> bool:
        """True if the file need not be read again."""
        return self.stat == stat and (self.judged or not is_foreign(self.bare, current))


class Roots:
    """Every memory root, by its name: `user` or `projects/<slug>`."""

    def __init__(self, folder: Callable[[str], Folder], versions: Versions, surveys: Surveys) -> None:
        self.folder = folder
        self._versions = versions
        self._surveys = surveys
        self._cache: dict[str, dict[str, _Cached]] = {}
        self._kept: dict[str, set[tuple[str, tuple[int, int, int]]]] = {}

    def is_usable(self, root: str) -> bool:
        """False for a root that may not be one, as it stands: of others, or theirs to write."""
        try:
            self.folder(root)
        except StoreError:
            return False
        return True

    def surveys(
        self, names: Iterable[str], warn: Callable[[str], None]
    ) -> Iterator[tuple[str, tuple[Surveyed, ...]]]:
        """Given roots, yield each with its survey; `warn` is told of one that cannot be used."""
        for root in names:
            try:
                rows = self.survey(root)
            except StoreError as error:
                warn(str(error))
            else:
                yield root, rows

    def survey(self, root: str) -> tuple[Surveyed, ...]:
        """Return a row for each Markdown file of the root but the index, sorted by path.

        What cannot be read, decoded or parsed is a row at fault; the others are served. Only
        files whose stat or standing changed since the last survey, perhaps of an earlier process,
        are read.
        """
        folder, current = self.folder(root), self._versions.current(root)
        before, now = self._cache.get(root), dict[str, _Cached]()
        if before is None:
            before = self._remembered(root)
        for path, stat in folder.stats().items():
            cached, known = before.get(path), current.get(path)
            if path == INDEX:
                continue
            if cached is None or not cached.holds(stat, known):
                bare, judged, _ = look(folder, root, path, stat, known)
                cached = _Cached(stat, bare, known, standing(bare, known), judged)
            elif cached.current != known:
                cached = replace(cached, current=known, row=standing(cached.bare, known))
            now[path] = cached
        self._cache[root] = now
        return tuple(cached.row for cached in now.values())

    def keep(self, root: str, now: datetime) -> None:
        """Write down what was read since the ledger was last told, where that is much."""
        settled = now.timestamp() * 1e9 - _SETTLED_NS
        kept, cached = self._kept.setdefault(root, set()), self._cache.get(root, {})
        new = [
            one
            for path, one in cached.items()
            if (path, one.stat) not in kept and one.stat[1] < settled and one.bare.sha256
        ]
        if len(new) < _WORTH_KEEPING:
            return
        for begin in range(0, len(new), _AT_ONCE):  # another connection waits for no more than a few
            some = new[begin : begin + _AT_ONCE]
            rows = [Remembered(row=one.bare, inode=one.stat[2], judged=one.judged) for one in some]
            self._surveys.keep(root, law_version(), rows, list(self._texts(root, rows)))
        self._surveys.forget(root, {path for path, _ in kept if path not in cached})
        self._kept[root] = {(path, one.stat) for path, one in cached.items()}

    def _texts(self, root: str, rows: Iterable[Remembered]) -> Iterator[tuple[str, str]]:
        """The path and what can be searched of each file that is still as its row says."""
        for row in (one.row for one in rows):
            folded = self._text(root, row.path, row.sha256)
            if folded:
                yield row.path, folded

    def _text(self, root: str, path: str, sha256: str = "") -> str:
        """What can be searched of a file; empty where nothing can, or it is not the one that is meant."""
        try:
            raw = self.folder(root).read(path, LAW.read_bytes)
            if sha256 in ("", digest(raw)):
                return searchable(path, decode(path, raw))
        except StoreError:
            pass
        return ""

    def _remembered(self, root: str) -> dict[str, _Cached]:
        """What an earlier process read and wrote down."""
        known = self._surveys.known(root, law_version())
        found = {}
        for path, one in known.items():
            stat = (one.row.size, one.row.mtime_ns, one.inode)
            found[path] = _Cached(stat, one.row, None, standing(one.row, None), one.judged)
        self._kept[root] = {(path, one.stat) for path, one in found.items()}
        return found

    def found(self, root: str) -> Iterator[Text]:
        """Yield what can be searched of each memory of a root: of none that is known to be withheld.

        What the ledger remembers of a file is taken where its stat is as it was; every other is read,
        and not yet judged.
        """
        there = dict(self.folder(root).stats())
        there.pop(INDEX, None)
        for one in self._surveys.texts(root, law_version()):
            if there.get(one.path) != (one.size, one.mtime_ns, one.inode):
                continue
            del there[one.path]
            if not one.hidden:
                yield Text(root, one.path, one.mtime_ns, one.folded, one.hidden is not None)
        for path, (_, mtime_ns, _) in there.items():
            folded = self._text(root, path)
            if folded:
                yield Text(root, path, mtime_ns, folded, sure=False)

    def look(self, root: str, path: str) -> tuple[Surveyed, str] | None:
        """Return a memory's row and its text without our stamps, as they are now; None for no file.

        The text of one at fault is empty.
        """
        folder, current = self.folder(root), self._versions.current_of(root, path)
        stat = folder.stat(path)
        if stat is None:
            return None
        known = self._surveys.one(root, law_version(), path)
        bare, _, raw = look(folder, root, path, stat, current, known)
        row = standing(bare, current)
        return row, "" if row.fault else unstamp(decode(path, raw))

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
