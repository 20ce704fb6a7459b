"""The pages of what is held: the words that it rests on, what it would change, and deciding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from aiohttp import web
from msgspec import structs

from extractord.cli.choosing import rows_of
from extractord.cli.deciding import Waits, accept, drafts, id_of, one_of, reject, waiting
from extractord.cli.reasons import why, why_withheld
from extractord.cli.web.faults import status_of
from extractord.cli.web.site import Asked, Does, Look, Shows, Site
from extractord.cli.web.wording import diff_rows
from extractord.core.versions import Held
from extractord.edges.store import Store, standings
from extractord.edges.store.noticing import PERSON
from extractord.errors import ConflictError, ExtractordError, UsageError

PAGE_CARDS = 25
_TEXT = "text:"
"""Begins the name of a field, which goes on with the place of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One change of what is held, as a person judges it."""

    root: str
    path: str
    verb: str
    """New, Change, Remove or, where a file is there and withheld, There."""
    why: str
    trust: str
    source: str
    said_at: datetime | None
    quotes: Sequence[str]
    moved: bool
    """Somebody changed the place since: it cannot be accepted any more."""
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is decided as one."""

    which: str
    run: str
    at: datetime
    seen: str
    """Of a file that is withheld: the hash of what is shown."""
    parts: Sequence[Part]


def held(site: Site, asked: Asked, look: Look) -> web.Response:
    """Everything that waits, oldest first."""
    everything = look.waiting()
    first = (asked.number("page", 1, 1_000_000) - 1) * PAGE_CARDS
    return site.page(
        "held",
        "Held for you",
        look,
        cards=[_card(look, each) for each in everything[first : first + PAGE_CARDS]],
        total=len(everything),
        first=first,
        page_cards=PAGE_CARDS,
        done=asked.word("done"),
    )


def edit(site: Site, asked: Asked, look: Look) -> web.Response:
    """What a fact would say, to be put right and accepted."""
    each = one_of(look.waiting(), asked.required("which"))
    return _editing(site, id_of(each), drafts(look.roots, each), _seen(each), look)


def do_accept(site: Site, asked: Asked) -> web.Response:
    """Put it in place, confirmed."""
    with site.room() as room:
        store = room.store
        accept(store, _meant(store, asked))
    return site.go("held", done="accepted")


def do_edit(site: Site, asked: Asked) -> web.Response:
    """Put it in place in the person's words, confirmed; no word of theirs is lost."""
    which, seen = asked.required("which"), asked.word("seen")
    words = {
        name.removeprefix(_TEXT): text.replace("\r\n", "\n")
        for name, text in asked.form.items()
        if name.startswith(_TEXT)
    }
    try:
        with site.room() as room:
            each = _meant(room.store, asked)
            accept(room.store, each, drafts(room.store.roots, each) | words)
    except ExtractordError as error:
        return _editing(site, which, words, seen, None, status_of(error), str(error))
    return site.go("held", done="accepted")


def do_reject(site: Site, asked: Asked) -> web.Response:
    """Drop it."""
    with site.room() as room:
        store = room.store
        reject(store, _meant(store, asked), PERSON)
    return site.go("held", done="rejected")


def _editing(
    site: Site,
    which: str,
    words: dict[str, str],
    seen: str,
    look: Look | None,
    status: int = 200,
    fault: str = "",
) -> web.Response:
    return site.page(
        "held_edit",
        "Edit and accept",
        look,
        status=status,
        which=which,
        seen=seen,
        words=words,
        fault=fault,
    )


def _meant(store: Store, asked: Asked) -> Waits:
    """What the person decides about: a withheld file as they saw it. Raise ConflictError where it is gone."""
    try:
        each = one_of(waiting(store.ledger, rows_of(store.roots, store.names())), asked.required("which"))
    except UsageError as error:
        raise ConflictError("this does not wait any more: somebody decided it meanwhile") from error
    if isinstance(each, Held):
        return each
    root, row = each
    if row.sha256 != asked.word("seen"):
        raise ConflictError(f"{root}/{row.path} was changed meanwhile: look at it again")
    return root, structs.replace(row, sha256=asked.word("seen"))


def _card(look: Look, each: Waits) -> Card:
    at = each.at if isinstance(each, Held) else datetime.fromtimestamp(each[1].mtime_ns / 1e9, UTC)
    return Card(
        which=id_of(each),
        run=each.run if isinstance(each, Held) else "",
        at=at,
        seen=_seen(each),
        parts=list(_parts(look, each)),
    )


def _parts(look: Look, each: Waits) -> Iterator[Part]:
    if not isinstance(each, Held):
        root, row = each
        yield Part(
            root=root,
            path=row.path,
            verb="There",
            why=why_withheld(row.withheld),
            trust=row.trust.word if row.trust is not None else "",
            source="",
            said_at=None,
            quotes=(),
            moved=False,
            rows=list(diff_rows(None, look.roots.text(root, row.path), row.path)),
        )
        return
    for standing in standings(look.roots, look.names, each):
        change = standing.change
        is_new = change.base is None
        yield Part(
            root=change.root,
            path=change.path,
            verb="Remove" if change.text is None else "New" if is_new else "Change",
            why=why(change.rule, change.reason),
            trust=change.trust.word,
            source=change.source,
            said_at=change.observed_at,
            quotes=[" ".join(quote.split()) for quote in change.quotes],
            moved=standing.moved,
            rows=list(diff_rows(standing.before, change.text, change.path)),
        )


def _seen(each: Waits) -> str:
    return "" if isinstance(each, Held) else each[1].sha256


SHOWS: dict[str, Shows] = {"held": held}
ASKS: dict[str, Shows] = {"held/edit": edit}
DOES: dict[str, Does] = {"held/accept": do_accept, "held/edit": do_edit, "held/reject": do_reject}
