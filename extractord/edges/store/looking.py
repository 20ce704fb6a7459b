"""One file of a root: as its bytes say it, as the law judges it, and as the ledger knows it."""

from __future__ import annotations

from msgspec import structs

from extractord.core.changeset import decode
from extractord.core.foreign import LAW, objection
from extractord.core.memory import unstamp
from extractord.core.ports import Folder
from extractord.core.survey import Surveyed, at_fault, survey
from extractord.core.surveyed import Remembered
from extractord.core.versions import Current
from extractord.errors import StoreError
from extractord.policy.requests import Trust


def look(
    folder: Folder,
    root: str,
    path: str,
    stat: tuple[int, int, int],
    current: Current | None,
    known: Remembered | None = None,
) -> tuple[Surveyed, bool, bytes]:
    """Return a file's row by its bytes, whether it was judged (where it is foreign), and these bytes.

    `known` is what this law said when it was asked before: of the same bytes it says the same.
    """
    size, mtime_ns, _ = stat
    try:
        raw = folder.read(path, LAW.read_bytes)
    except StoreError as error:
        return at_fault(path, size, mtime_ns, str(error)), False, b""
    row = survey(path, raw, mtime_ns)
    if row.fault or not is_foreign(row, current):
        return row, bool(row.fault), raw
    if known is not None and known.judged and known.row.sha256 == row.sha256:
        return structs.replace(row, withheld=known.row.withheld), True, raw
    return structs.replace(row, withheld=objection(root, path, unstamp(decode(path, raw)))), True, raw


def is_foreign(bare: Surveyed, current: Current | None) -> bool:
    """True if the ledger does not know the bytes, or knows them as foreign."""
    return current is None or current.foreign or current.sha256 != bare.sha256


def standing(bare: Surveyed, current: Current | None) -> Surveyed:
    """Given a row as the bytes say it, return it with what the ledger knows."""
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
