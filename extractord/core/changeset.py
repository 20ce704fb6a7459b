"""What a run would change, in memory, over a view of its two roots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from extractord.core.digesting import digest
from extractord.core.memory import unstamp
from extractord.core.ports import View
from extractord.core.records import Change, Evidence
from extractord.errors import StoreError
from extractord.policy import keeps_half
from extractord.policy.characters import likeness
from extractord.policy.requests import Found, PathFacts, RootKind

INDEX = "MEMORY.md"
"""The index of a root, which is derived and no memory."""

FILES_A_RUN = 50
"""A run changes so many memories at most."""
BYTES_A_RUN = 1024 * 1024
"""A run writes so much at most, in UTF-8."""

Trial = tuple[RootKind, str, str | None]
"""Root, path and the text that it would have, None for a removal."""


@dataclass(slots=True)
class _Touched:
    """A path that the run looked at: what was there first, and what would be there."""

    base: str | None
    """SHA-256 (hex) of the bytes on disk; None where there was nothing."""
    before: str | None
    text: str | None
    evidence: tuple[Evidence, ...] = ()


class ChangeSet:
    """The run's changes, laid over the view; nothing here touches a disk.

    Whoever applies a change has judged it. StoreError passes through where the view cannot read
    a file, and where its bytes are not UTF-8: such a file is never taken for an empty one.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._touched: dict[tuple[RootKind, str], _Touched] = {}

    def read(self, root: RootKind, path: str) -> str | None:
        """Return the text at `path` as the run left it, without stamps; None where there is none."""
        return self._look(root, path).text

    def names(self, root: RootKind) -> tuple[str, ...]:
        """Return the paths of the root's memories as the run left them, sorted, without the index."""
        names = {name for name in self._view.names(root) if name != INDEX}
        for (where, path), touched in self._touched.items():
            if where is root:
                (names.discard if touched.text is None else names.add)(path)
        return tuple(sorted(names))

    def facts(self, root: RootKind, path: str) -> PathFacts:
        """Return what stands at `path` as the run left it; trust is the store's to say."""
        facts = self._view.facts(root, path)
        if facts.twin is None:
            facts = replace(facts, twin=twin(path, self._created(root)))
        if facts.found not in (Found.NOTHING, Found.FILE):
            return facts
        text = self.read(root, path)
        if text is None:
            return replace(facts, found=Found.NOTHING, size=0, text=None)
        size = len(text.encode("utf-8", "surrogatepass"))
        return replace(facts, found=Found.FILE, size=max(facts.size, size), text=text)

    def write(self, root: RootKind, path: str, text: str, evidence: Iterable[Evidence] = ()) -> None:
        """Create or overwrite a memory; stamps in the text are dropped."""
        self._put(root, path, unstamp(text), evidence)

    def edit(self, root: RootKind, path: str, old: str, new: str, evidence: Iterable[Evidence] = ()) -> int:
        """Replace `old` by `new` where it stands exactly once; return how often it stands there."""
        text = self.read(root, path) or ""
        matches = occurrences(text, old)
        if matches == 1:
            self._put(root, path, unstamp(text.replace(old, new)), evidence)
        return matches

    def remove(self, root: RootKind, path: str, evidence: Iterable[Evidence] = ()) -> None:
        """Remove a memory."""
        self._put(root, path, None, evidence)

    def changes(self) -> tuple[Change, ...]:
        """Return one change for each path that differs from its base, in the order of first touch."""
        return tuple(
            Change(root=root, path=path, text=touched.text, base=touched.base, evidence=touched.evidence)
            for (root, path), touched in self._touched.items()
            if touched.text != touched.before
        )

    def removals(self, trial: Iterable[Trial] = ()) -> Mapping[RootKind, int]:
        """Return how many memories each root would lose, as if the trial had been applied.

        A rewrite that keeps under half of a body is a removal (DESIGN §11).
        """
        texts = {place: touched.text for place, touched in self._touched.items()}
        for root, path, text in trial:
            self._look(root, path)
            texts[root, path] = text
        lost = Counter(
            root for (root, path), text in texts.items() if loses(self._touched[root, path].before, text)
        )
        return {root: lost[root] for root in RootKind}

    def memories(self) -> Mapping[RootKind, int]:
        """Return how many memories each root had when the run began."""
        return {root: sum(name != INDEX for name in self._view.names(root)) for root in RootKind}

    def _created(self, root: RootKind) -> list[str]:
        return [
            path
            for (where, path), touched in self._touched.items()
            if where is root and touched.before is None and touched.text is not None
        ]

    def _look(self, root: RootKind, path: str) -> _Touched:
        touched = self._touched.get((root, path))
        if touched is None:
            touched = self._first_look(root, path)
            self._touched[root, path] = touched
        return touched

    def _first_look(self, root: RootKind, path: str) -> _Touched:
        if self._view.facts(root, path).found is Found.NOTHING:
            return _Touched(base=None, before=None, text=None)
        raw = self._view.read(root, path)
        text = unstamp(decode(path, raw))
        return _Touched(base=digest(raw), before=text, text=text)

    def _put(self, root: RootKind, path: str, text: str | None, evidence: Iterable[Evidence]) -> None:
        touched = self._look(root, path)
        touched.text = text
        touched.evidence = tuple(dict.fromkeys([*touched.evidence, *evidence]))


def decode(path: str, raw: bytes) -> str:
    """Given a memory's bytes, return its text. Raise StoreError where they are not UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise StoreError(f"{path}: byte {error.start} is not UTF-8; the file is left as it is") from error


def twin(path: str, others: Iterable[str]) -> str | None:
    """Given a path, return the first other one that differs from it in a segment's bytes alone.

    Two such names are one on some disks, and to the eye.
    """
    segments = path.split("/")
    for other in others:
        for mine, theirs in zip(segments, other.split("/"), strict=False):
            if mine != theirs:
                if likeness(mine) == likeness(theirs):
                    return other
                break
    return None


def occurrences(text: str, part: str) -> int:
    """Given a text, return at how many places `part` stands in it, overlapping ones counted."""
    if not part:
        return 0
    count = 0
    at = text.find(part)
    while at >= 0:
        count += 1
        at = text.find(part, at + 1)
    return count


def loses(before: str | None, after: str | None) -> bool:
    """Given a memory's text before and after, return True if that counts as a removal."""
    if before is None or before == after:
        return False
    return after is None or not keeps_half(before, after)
