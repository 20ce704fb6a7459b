"""What a person does to a memory: put its text right, forget it, pin it, bring a version back."""

from __future__ import annotations

from aiohttp import web

from extractord.cli.choosing import Row, one_of, rows_of
from extractord.cli.lives import forget
from extractord.cli.web.faults import status_of
from extractord.cli.web.memory import steadily
from extractord.cli.web.site import Asked, Does, Look, Shows, Site
from extractord.cli.web.wording import diff_rows, nothing_at
from extractord.core.changeset import decode
from extractord.core.digesting import digest
from extractord.core.memory import unstamp
from extractord.core.survey import place_of, stem
from extractord.edges.store import Keeping, Store
from extractord.edges.store.noticing import PERSON
from extractord.errors import ConflictError, ExtractordError, UsageError


def edit(site: Site, asked: Asked, look: Look) -> web.Response:
    """The text of a memory, to be put right."""
    root, row = one_of(look.rows(), asked.required("at"))
    raw = steadily(look, root, row.path)
    return _editing(site, f"{root}/{row.path}", digest(raw), unstamp(decode(row.path, raw)), look)


def do_edit(site: Site, asked: Asked) -> web.Response:
    """Put a person's text in place, unless the file changed since they saw it; no word of it is lost."""
    place, seen, text = asked.required("at"), asked.required("seen"), asked.word("text")
    try:
        with site.room() as room:
            return _edited(site, room.store, place, seen, text)
    except ExtractordError as error:
        return _editing(site, place, seen, text, None, status_of(error), fault=str(error))


def leave(site: Site, asked: Asked, look: Look) -> web.Response:
    """Asks whether a memory is to be forgotten, and whether its history too."""
    place = asked.required("at")
    root, path = place_of(place)
    row = next((row for there, row in look.rows() if f"{there}/{row.path}" == place), None)
    if row is None and not look.ledger.versions.history(root, path):
        raise nothing_at(place)
    return site.page("forget", f"Forget {stem(path)}?", look, place=place, row=row)


def do_leave(site: Site, asked: Asked) -> web.Response:
    """Forget a memory, its history too where that is wanted."""
    place = asked.required("at")
    root, path = place_of(place)
    purge = asked.word("purge") == "yes"
    with site.room() as room:
        store = room.store
        known = [f"{there}/{row.path}" for there, row in rows_of(store.roots, store.names())]
        if place not in known and not store.ledger.versions.history(root, path):
            raise nothing_at(place)
        if not forget(store, root, path, PERSON, purge=purge) and not purge:
            raise UsageError(f"{place} was already gone: only its history can be erased")
    return site.go("memories", done="purged" if purge else "forgotten")


def do_pin(site: Site, asked: Asked) -> web.Response:
    """Pin a memory, or let it go."""
    pinned = asked.word("pinned") == "yes"
    with site.room() as room:
        store = room.store
        root, row = _meant(store, asked)
        Keeping(store, PERSON).pin(root, row.path, pinned=pinned)
    return site.go("memory", at=f"{root}/{row.path}", done="pinned" if pinned else "unpinned")


def do_restore(site: Site, asked: Asked) -> web.Response:
    """Put a version back in its place."""
    place = asked.required("at")
    root, path = place_of(place)
    with site.room() as room:
        store = room.store
        if root not in store.names():
            raise nothing_at(place)
        Keeping(store, PERSON).restore(root, path, asked.required("version"))
    return site.go("memory", at=place, done="restored")


def _edited(site: Site, store: Store, place: str, seen: str, text: str) -> web.Response:
    root, row = one_of(rows_of(store.roots, store.names()), place)
    raw = store.roots.raw(root, row.path)
    if raw is None:
        raise ConflictError(f"{place} is gone: its page brings a version back")
    before = unstamp(decode(row.path, raw))
    text = _with_line_ends(text, before)
    if digest(raw) != seen:
        return _editing(site, place, digest(raw), text, None, 409, before)
    if text == before:
        return site.go("memory", at=place, done="unchanged")
    Keeping(store, PERSON).edit(root, row.path, raw, text)
    return site.go("memory", at=place, done="edited")


def _editing(
    site: Site,
    place: str,
    seen: str,
    text: str,
    look: Look | None,
    status: int = 200,
    there: str | None = None,
    fault: str = "",
) -> web.Response:
    """The page to edit on; `there` is what somebody else put there meanwhile."""
    return site.page(
        "edit",
        f"Edit {stem(place)}",
        look,
        status=status,
        place=place,
        seen=seen,
        text=text,
        rows=None if there is None else list(diff_rows(there, text, place)),
        fault=fault,
    )


def _meant(store: Store, asked: Asked) -> Row:
    return one_of(rows_of(store.roots, store.names()), asked.required("at"))


def _with_line_ends(text: str, before: str) -> str:
    """Given a text as a form sends it, return it with the line ends of the one before."""
    plain = text.replace("\r\n", "\n")
    has_crlf = "\r\n" in before and "\n" not in before.replace("\r\n", "")
    return plain.replace("\n", "\r\n") if has_crlf else plain


ASKS: dict[str, Shows] = {"memory/edit": edit, "memory/forget": leave}
DOES: dict[str, Does] = {
    "memory/edit": do_edit,
    "memory/forget": do_leave,
    "memory/pin": do_pin,
    "memory/restore": do_restore,
}
