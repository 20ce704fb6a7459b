"""The page of one memory: what it says, where that was said, and its versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from extractord.cli.choosing import Row
from extractord.cli.lives import Stage, stages
from extractord.cli.web.site import Asked, Look, Shows, Site
from extractord.cli.web.wording import diff_rows, moment, nothing_at, written_at
from extractord.core.digesting import digest
from extractord.core.foreign import objection
from extractord.core.memory import STAMPS, Memory, parse, unstamp
from extractord.core.survey import place_of, stem
from extractord.core.versions import HeldChange, Version
from extractord.errors import ConflictError

_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a memory was said, as its stamps have it."""

    agent: str
    session: str
    entry: str
    said_at: datetime | None
    recorded_at: datetime | None
    run: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One version beside what it changed."""

    version: Version
    rows: Sequence[tuple[str, str]]
    can_return: bool
    """Its bytes are kept, and something else stands at its place."""


def memory(site: Site, asked: Asked, look: Look) -> web.Response:
    """One memory: its words, how far it can be believed and why, its versions."""
    place = asked.required("at")
    root, path = place_of(place)
    found = next(((there, row) for there, row in look.rows() if f"{there}/{row.path}" == place), None)
    lived = list(stages(look.ledger, root, path))
    if found is None and not lived:
        raise nothing_at(place)
    raw = None
    if found is not None and found[1].sha256:
        raw = steadily(look, root, path)
    text = None if raw is None else raw.decode("utf-8", "replace")
    parsed = parse(text or "")
    said = parsed if isinstance(parsed, Memory) else Memory(body=text or "")
    return site.page(
        "memory",
        _title(path, found),
        look,
        place=place,
        root=root,
        row=None if found is None else found[1],
        text=text,
        said=said,
        source=source_of(said),
        others=[
            (name, value)
            for name, value in said.metadata.items()
            if name not in (*STAMPS, "type") and isinstance(value, str)
        ],
        written_at=None if found is None else written_at(found[1]),
        objection=objection(root, path, unstamp(text))
        if text is not None and found is not None and not found[1].withheld and not found[1].fault
        else "",
        opened=look.ledger.uses.opened(root).get(path),
        can_edit=raw is not None and _is_text(raw),
        quotes=_accepted(look, root, path),
        proofs=look.ledger.versions.proofs(root, path),
        history=list(reversed([*_shown(lived, place, None if raw is None else digest(raw))])),
        done=asked.word("done"),
    )


def steadily(look: Look, root: str, path: str) -> bytes:
    """Given a place, return its bytes, read while nobody wrote. Raise StoreError, ConflictError."""
    folder = look.roots.folder(root)
    for _ in range(_TRIES):
        before, raw = folder.stat(path), look.roots.raw(root, path)
        if raw is not None and before is not None and folder.stat(path) == before:
            return raw
    raise ConflictError(f"{root}/{path} is being written just now: look again")


def source_of(said: Memory) -> Source | None:
    """Given what a memory says, return where it was said; None where no run wrote it."""
    stamps = {name: str(said.metadata.get(name, "")) for name in STAMPS}
    match stamps["source"].split():
        case [agent, session, *entry]:
            return Source(
                agent=agent,
                session=session,
                entry=entry[0] if entry else "",
                said_at=moment(stamps["observed_at"]),
                recorded_at=moment(stamps["recorded_at"]),
                run=stamps["run"],
            )
        case _:
            return None


def _shown(lived: Sequence[Stage], place: str, there: str | None) -> Iterator[Shown]:
    for stage in lived:
        version = stage.version
        can_return = stage.text is not None and version.sha256 != there
        yield Shown(version, list(diff_rows(stage.before, stage.text, place)), can_return)


def _is_text(raw: bytes) -> bool:
    """What is no text is mended with other tools."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _accepted(look: Look, root: str, path: str) -> HeldChange | None:
    """The words that a memory was accepted on, where it was held once."""
    changes = (change for held in look.ledger.versions.held("accepted") for change in held.changes)
    mine = [change for change in changes if (change.root, change.path) == (root, path) and change.quotes]
    return mine[-1] if mine else None


def _title(path: str, found: Row | None) -> str:
    return stem(path) if found is None else found[1].title


SHOWS: dict[str, Shows] = {"memory": memory}
