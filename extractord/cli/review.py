"""`review`: a person walks through what is held; `list`, `show`, `accept` and `reject` for one at a time."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from extractord.cli.attended import decider, unattended
from extractord.cli.looking import looked_at
from extractord.cli.writing import diff, edited, key, printable
from extractord.config import load_settings
from extractord.core.changeset import decode
from extractord.core.memory import unstamp, utc
from extractord.core.survey import Surveyed
from extractord.core.versions import Held, HeldChange
from extractord.edges.store import Keeping, Reviewing, Store, standings, withheld
from extractord.edges.store.roots import Roots
from extractord.errors import ExtractordError, UsageError
from extractord.storeroom import storeroom, to_stderr

app = App(name="review", help="Walk through the facts that are held: accept, edit, reject, or decide later.")

Json = Annotated[bool, Parameter(name="--json", negative=(), help="One object a line.")]
Which = Annotated[str, Parameter(help="The number that `review list` gives it, or a withheld file's place.")]
Waits = Held | tuple[str, Surveyed]
"""What a run wants, or a file that is there and withheld."""
_KEYS = "[a]ccept  [e]dit and accept  [r]eject  [l]ater  [q]uit "


@app.default
def walk() -> int:
    """Walk through the facts that are held: accept, edit, reject, or decide later."""
    _require_a_person()
    with storeroom(load_settings(), to_stderr) as room:
        roots, names = room.store.roots, room.store.names()
        waiting: list[Waits] = [*room.ledger.versions.held(), *withheld(roots, names, to_stderr)]
        if not waiting:
            print("nothing is held")
        for number, each in enumerate(waiting, 1):
            print("\n".join(["", f"{number} of {len(waiting)}", *_told(roots, names, each)]))
            if not _decided(room.store, each):
                break
    return 0


@app.command(name="list")
def list_(*, json: Json = False) -> None:
    """List what is held, and why; files that are withheld too."""
    with _looked() as (_, _, waiting):
        for each in waiting:
            if json:
                print(msgspec.json.encode(as_json(each)).decode())
            else:
                print(*_summary(each), sep="\n")
    if not waiting and not json:
        print("nothing is held")


@app.command(name="show")
def show(which: Which, *, json: Json = False) -> None:
    """Show one of them: what would change, the words that it rests on, when and where they were said."""
    with _looked() as (roots, names, waiting):
        each = _one(waiting, which)
        if json:
            changes = [_change(change) for change in each.changes] if isinstance(each, Held) else []
            print(msgspec.json.encode(as_json(each) | {"changes": changes}).decode())
        else:
            print(*_told(roots, names, each), sep="\n")


@app.command(name="accept")
def accept(which: Which) -> None:
    """Commit what is held, as confirmed by you; only at a terminal."""
    _require_a_person()
    with storeroom(load_settings(), to_stderr) as room:
        _accept(room.store, _found(room.store, which))


@app.command(name="reject")
def reject(which: Which) -> None:
    """Drop what is held; the same words do not bring it back."""
    with storeroom(load_settings(), to_stderr) as room:
        _reject(room.store, _found(room.store, which))


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


def _change(change: HeldChange) -> dict[str, object]:
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


def _decided(store: Store, each: Waits) -> bool:
    """Ask until it is decided or put off; False where the person has enough."""
    while True:
        print(_KEYS, end="", flush=True)
        pressed = key()
        print(pressed if pressed.isprintable() else "")
        try:
            match pressed:
                case "a":
                    _accept(store, each)
                case "e":
                    _edit(store, each)
                case "r":
                    _reject(store, each)
                case "l" | "\n" | " ":
                    pass
                case "q" | "\x04":
                    return False
                case _:
                    continue
        except ExtractordError as error:
            print(f"extractord: {error}", file=sys.stderr)
            continue
        return True


def _accept(store: Store, each: Waits) -> None:
    match each:
        case Held():
            _say("accepted", Reviewing(store).accept(each))
        case (root, row):
            Reviewing(store).confirm(root, row.path, row.sha256)
            _say("accepted", (f"{root}/{row.path}",))


def _edit(store: Store, each: Waits) -> None:
    with ExitStack() as stack:
        match each:
            case Held():
                words = {
                    f"{change.root}/{change.path}": stack.enter_context(edited(change.text, change.path))
                    for change in each.changes
                    if change.text is not None
                }
                _say("accepted", Reviewing(store).accept(each, words))
            case (root, row):
                raw = store.roots.raw(root, row.path) or b""
                text = stack.enter_context(edited(unstamp(decode(row.path, raw)), row.path))
                Keeping(store).edit(root, row.path, raw, text)
                _say("accepted", (f"{root}/{row.path}",))


def _reject(store: Store, each: Waits) -> None:
    match each:
        case Held():
            _say("rejected", Reviewing(store, decider()).reject(each))
        case (root, row):
            Keeping(store, decider()).forget(root, row.path)
            _say("rejected and removed", (f"{root}/{row.path}",))


def _summary(each: Waits) -> Iterator[str]:
    if not isinstance(each, Held):
        yield f"{printable('/'.join((each[0], each[1].path)))}"
        yield f"      {printable(_why(each[1].withheld))}"
        return
    for change in each.changes:
        does = "remove " if change.text is None else ""
        yield f"{each.id:>4}  {printable(f'{does}{change.root}/{change.path}')}"
        yield f"      {printable(_why(change.rule, change.reason))}"


def _told(roots: Roots, names: Collection[str], each: Waits) -> Iterator[str]:
    if not isinstance(each, Held):
        root, row = each
        yield printable(f"{root}/{row.path}")
        yield f"  why    {printable(_why(row.withheld))}"
        yield from (f"  {line}" for line in diff(None, roots.text(root, row.path), f"{root}/{row.path}"))
        return
    for standing in standings(roots, names, each):
        change = standing.change
        place = f"{change.root}/{change.path}"
        yield f"{each.id}  {printable(place)}"
        yield f"  why    {printable(_why(change.rule, change.reason))}"
        said = "" if change.observed_at is None else f"{utc(change.observed_at)}, "
        yield f"  said   {said}{printable(change.source)}, trust {change.trust.word}"
        yield from (f"  quote  {printable(' '.join(quote.split()))}" for quote in change.quotes)
        if standing.moved:
            yield "  note   somebody changed this file since: it can only be rejected, or said anew"
        yield from (f"  {line}" for line in diff(standing.before, change.text, place))


def _why(rule: str, reason: str = "") -> str:
    if not rule:
        return "waits with what it belongs to: accepted or rejected as one"
    return f"{rule}: {reason}" if reason else f"it is on the disk, but no agent is told of it: {rule}"


@contextmanager
def _looked() -> Iterator[tuple[Roots, tuple[str, ...], list[Waits]]]:
    with looked_at(load_settings()) as (roots, names, ledger):
        yield roots, names, [*ledger.versions.held(), *withheld(roots, names, to_stderr)]


def _found(store: Store, which: str) -> Waits:
    return _one([*store.ledger.versions.held(), *withheld(store.roots, store.names(), to_stderr)], which)


def _one(waiting: Iterable[Waits], which: str) -> Waits:
    for each in waiting:
        if which == (str(each.id) if isinstance(each, Held) else f"{each[0]}/{each[1].path}"):
            return each
    raise UsageError(f"nothing is held as {printable(which)!r}: `extractord review list` has what waits")


def _require_a_person() -> None:
    reason = unattended()
    if reason:
        raise UsageError(f"{reason}: `extractord review list` and `show` say what is held, and why")


def _say(done: str, places: tuple[str, ...]) -> None:
    print(f"{done}: {printable(', '.join(places))}")
