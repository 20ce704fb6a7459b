"""What a run may change in all, and what it may not say twice: the child is not trusted to keep to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz import fuzz, process, utils

from extractord.core.changeset import BYTES_A_RUN, FILES_A_RUN
from extractord.core.foreign import virtual_path
from extractord.core.memory import Memory, parse
from extractord.core.survey import Surveyed
from extractord.policy.verdict import Allow, Deny, Hold, Verdict

NEAR_NAME = 92.0
"""Names as like as this, of 100, are of one fact."""
NEAR_DESCRIPTION = 90.0


def too_much(texts: Iterable[str | None]) -> Verdict:
    """Given the texts that a run would write so far, None for a removal, return whether that is too much."""
    sizes = [len((text or "").encode("utf-8", "surrogatepass")) for text in texts]
    if len(sizes) > FILES_A_RUN:
        return Hold("run-files", f"A run changes at most {FILES_A_RUN} memories. A person will look at it.")
    if sum(sizes) > BYTES_A_RUN:
        return Hold("run-bytes", f"A run writes at most {BYTES_A_RUN // 1024} KiB. A person will look at it.")
    return Allow()


class Sayings:
    """The names and descriptions of the memories of a run's roots, and of those that it adds."""

    def __init__(self, rows: Mapping[str, Sequence[Surveyed]]) -> None:
        """Given each root's survey, by the root's name."""
        said = [(virtual_path(root, row.path), row) for root, rows in rows.items() for row in rows]
        self._names = {path: row.name for path, row in said if row.name}
        self._descriptions = {path: row.description for path, row in said if row.description}

    def repeats(self, path: str, text: str) -> Verdict:
        """Given a new memory's virtual path and text, return whether another one says that already.

        One with the same description is refused; one with nearly the same name or description,
        and no other figures, waits for a person: it may be another fact.
        """
        memory = parse(text)
        if not isinstance(memory, Memory):
            return Allow()
        other = _nearest(memory.description, self._descriptions, NEAR_DESCRIPTION)
        if other is not None and _folded(self._descriptions[other]) == _folded(memory.description):
            return Deny("duplicate", f"{other} says this already. Edit it if something is missing there.")
        other = other or _nearest(memory.name, self._names, NEAR_NAME)
        if other is not None:
            return Hold(
                "duplicate", f"{other} is nearly equal. A person will look at it; edit that one instead."
            )
        self._names[path], self._descriptions[path] = memory.name, memory.description
        return Allow()

    def forget(self, path: str) -> None:
        """A memory goes in the same change-set: what says the same may take its place."""
        self._names.pop(path, None)
        self._descriptions.pop(path, None)


def _nearest(words: str, among: Mapping[str, str], near: float) -> str | None:
    """The path of the most alike of the texts, case and marks aside; figures must be the same."""
    if not words:
        return None
    figures = _figures(words)
    found = process.extract(
        words, among, scorer=fuzz.ratio, processor=utils.default_process, score_cutoff=near, limit=None
    )
    return next((path for text, _, path in found if _figures(text) == figures), None)


def _figures(words: str) -> list[str]:
    return [word.strip(".,;:") for word in words.casefold().split() if any(map(str.isdecimal, word))]


def _folded(words: str) -> str:
    return " ".join(utils.default_process(words).split())
