"""What waits for a person, and carrying out what they decide: `review` and the page stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from extractord.cli.choosing import Row
from extractord.core.changeset import decode
from extractord.core.digesting import digest
from extractord.core.memory import unstamp, utc
from extractord.core.ports import Ledger
from extractord.core.versions import Held, HeldChange
from extractord.edges.store import Keeping, Reviewing, Store
from extractord.edges.store.roots import Roots
from extractord.errors import ConflictError, UsageError

Waits = Held | Row
"""What a run wants, or a file that is there and withheld."""


def waiting(ledger: Ledger, rows: Iterable[Row]) -> list[Waits]:
    """Given the ledger and every memory, return all that waits for a person, what is held first."""
    return [*ledger.versions.held(), *(row for row in rows if row[1].withheld)]


def id_of(each: Waits) -> str:
    """Given what waits, return what it is asked for by: a number, or a withheld file's place."""
    return str(each.id) if isinstance(each, Held) else f"{each[0]}/{each[1].path}"


def one_of(held: Iterable[Waits], which: str) -> Waits:
    """Given what waits, return the one that is asked for. Raise UsageError where there is none."""
    for each in held:
        if which == id_of(each):
            return each
    raise UsageError(f"nothing is held as {which!r}: `extractord review list` has what waits")


def drafts(roots: Roots, each: Waits) -> dict[str, str]:
    """Given what waits, return the texts that a person may put in their own words, by place."""
    if isinstance(each, Held):
        return {
            f"{change.root}/{change.path}": change.text for change in each.changes if change.text is not None
        }
    root, row = each
    return {f"{root}/{row.path}": unstamp(decode(row.path, roots.raw(root, row.path) or b""))}


def accept(store: Store, each: Waits, words: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Given what waits, put it in place as confirmed, perhaps in a person's own words; return the places.

    `words` are texts by place. Raise ConflictError where it is not any more what the person looked
    at, UsageError where the law says no; nothing is written then.
    """
    if isinstance(each, Held):
        return Reviewing(store).accept(each, words)
    root, row = each
    place = f"{root}/{row.path}"
    if words is None:
        Reviewing(store).confirm(root, row.path, row.sha256)
        return (place,)
    raw = store.roots.raw(root, row.path)
    if raw is None or digest(raw) != row.sha256:
        raise ConflictError(f"{place} was changed meanwhile: look at it again")
    Keeping(store).edit(root, row.path, raw, words[place])
    return (place,)


def reject(store: Store, each: Waits, by: str) -> tuple[str, ...]:
    """Given what waits and who decides, drop it, so that the same words do not bring it back."""
    if isinstance(each, Held):
        return Reviewing(store, by).reject(each)
    root, row = each
    Keeping(store, by).forget(root, row.path)
    return (f"{root}/{row.path}",)


def as_json(each: Waits) -> dict[str, object]:
    """Given what waits, return it as `review list --json` has it."""
    if not isinstance(each, Held):
        root, row = each
        return {
            "id": f"{root}/{row.path}",
            "run": "",
            "held_at": utc(datetime.fromtimestamp(row.mtime_ns / 1e9, UTC)),
            "paths": [f"{root}/{row.path}"],
            "removes": [],
            "rules": ["withheld"],
            "reasons": [row.withheld],
            "trust": row.trust.word if row.trust is not None else None,
        }
    return {
        "id": str(each.id),
        "run": each.run,
        "held_at": utc(each.at),
        "paths": [f"{change.root}/{change.path}" for change in each.changes],
        "removes": [f"{change.root}/{change.path}" for change in each.changes if change.text is None],
        "rules": list(dict.fromkeys(change.rule for change in each.changes if change.rule)),
        "reasons": list(dict.fromkeys(change.reason for change in each.changes if change.reason)),
        "trust": min(change.trust for change in each.changes).word,
    }


def change_as_json(change: HeldChange) -> dict[str, object]:
    """Given a held change, return it as `review show --json` has it."""
    return {
        "root": change.root,
        "path": change.path,
        "name": change.name,
        "text": change.text,
        "base": change.base,
        "rule": change.rule,
        "reason": change.reason,
        "trust": change.trust.word,
        "source": change.source,
        "said_at": None if change.observed_at is None else utc(change.observed_at),
        "quotes": list(change.quotes),
    }
