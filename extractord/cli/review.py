"""`review`: a person walks through what is held; `list`, `show`, `accept` and `reject` for one at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated

from cyclopts import App, Parameter

from extractord.cli.attended import decider, unattended
from extractord.cli.choosing import rows_of
from extractord.cli.deciding import Waits, as_json, change_as_json, drafts, one_of, waiting
from extractord.cli.deciding import accept as accept_it
from extractord.cli.deciding import reject as reject_it
from extractord.cli.json_lines import print_json
from extractord.cli.looking import looked_at
from extractord.cli.options import Json
from extractord.cli.reasons import why, why_withheld
from extractord.cli.writing import diff, edited, key
from extractord.config import load_settings
from extractord.core.memory import utc
from extractord.core.printable import printable
from extractord.core.versions import Held
from extractord.edges.store import Store, standings
from extractord.edges.store.roots import Roots
from extractord.errors import ExtractordError, UsageError
from extractord.recall.unopened import ENOUGH, unopened
from extractord.storeroom import storeroom, to_stderr

app = App(name="review", help="Walk through the facts that are held: accept, edit, reject, or decide later.")

Which = Annotated[str, Parameter(help="The number that `review list` gives it, or a withheld file's place.")]
_KEYS = "[a]ccept  [e]dit and accept  [r]eject  [l]ater  [q]uit "


@app.default
def walk() -> int:
    """Walk through the facts that are held: accept, edit, reject, or decide later."""
    _require_a_person()
    with storeroom(load_settings(), to_stderr) as room:
        roots, names = room.store.roots, room.store.names()
        held = waiting(room.ledger, rows_of(roots, names))
        if not held:
            print("nothing is held")
        for number, each in enumerate(held, 1):
            print("\n".join(["", f"{number} of {len(held)}", *_told(roots, names, each)]))
            if not _decided(room.store, each):
                break
    return 0


@app.command(name="list")
def list_(*, json: Json = False) -> None:
    """List what is held, and why; files that are withheld too."""
    with looked_at(load_settings()) as (roots, names, ledger):
        rows = rows_of(roots, names)
        held = waiting(ledger, rows)
        never = () if json else unopened(ledger.uses, rows)
    for each in held:
        if json:
            print_json(as_json(each))
        else:
            print(*_summary(each), sep="\n")
    if not held and not json:
        print("nothing is held")
    surely = sum(one.sessions >= ENOUGH for one in never)
    if surely:
        command = "`extractord memories list --unused`"
        print(f"no agent opened {surely} of the memories in {ENOUGH} sessions: {command}")


@app.command(name="show")
def show(which: Which, /, *, json: Json = False) -> None:
    """Show one of them: what would change, the words that it rests on, when and where they were said."""
    with _looked() as (roots, names, held):
        each = one_of(held, which)
        if json:
            changes = [change_as_json(change) for change in each.changes] if isinstance(each, Held) else []
            print_json(as_json(each) | {"changes": changes})
        else:
            print(*_told(roots, names, each), sep="\n")


@app.command(name="accept")
def accept(which: Which, /) -> None:
    """Commit what is held, as confirmed by you; only at a terminal."""
    _require_a_person()
    with storeroom(load_settings(), to_stderr) as room:
        _accept(room.store, _found(room.store, which))


@app.command(name="reject")
def reject(which: Which, /) -> None:
    """Drop what is held; the same words do not bring it back."""
    with storeroom(load_settings(), to_stderr) as room:
        _reject(room.store, _found(room.store, which))


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
            to_stderr(str(error))
            continue
        return True


def _accept(store: Store, each: Waits) -> None:
    _say("accepted", accept_it(store, each))


def _edit(store: Store, each: Waits) -> None:
    with ExitStack() as stack:
        words = {
            place: stack.enter_context(edited(text, place))
            for place, text in drafts(store.roots, each).items()
        }
        _say("accepted", accept_it(store, each, words))


def _reject(store: Store, each: Waits) -> None:
    done = "rejected" if isinstance(each, Held) else "rejected and removed"
    _say(done, reject_it(store, each, decider()))


def _summary(each: Waits) -> Iterator[str]:
    if not isinstance(each, Held):
        yield f"{printable('/'.join((each[0], each[1].path)))}"
        yield f"      {printable(why_withheld(each[1].withheld))}"
        return
    for change in each.changes:
        does = "remove " if change.text is None else ""
        yield f"{each.id:>4}  {printable(f'{does}{change.root}/{change.path}')}"
        yield f"      {printable(why(change.rule, change.reason))}"


def _told(roots: Roots, names: Collection[str], each: Waits) -> Iterator[str]:
    if not isinstance(each, Held):
        root, row = each
        yield printable(f"{root}/{row.path}")
        yield f"  why    {printable(why_withheld(row.withheld))}"
        yield from (f"  {line}" for line in diff(None, roots.text(root, row.path), f"{root}/{row.path}"))
        return
    for standing in standings(roots, names, each):
        change = standing.change
        place = f"{change.root}/{change.path}"
        yield f"{each.id}  {printable(place)}"
        yield f"  why    {printable(why(change.rule, change.reason))}"
        said = "" if change.observed_at is None else f"{utc(change.observed_at)}, "
        yield f"  said   {said}{printable(change.source)}, trust {change.trust.word}"
        yield from (f"  quote  {printable(' '.join(quote.split()))}" for quote in change.quotes)
        if standing.moved:
            yield "  note   somebody changed this file since: it can only be rejected, or said again"
        yield from (f"  {line}" for line in diff(standing.before, change.text, place))


@contextmanager
def _looked() -> Iterator[tuple[Roots, tuple[str, ...], list[Waits]]]:
    with looked_at(load_settings()) as (roots, names, ledger):
        yield roots, names, waiting(ledger, rows_of(roots, names))


def _found(store: Store, which: str) -> Waits:
    return one_of(waiting(store.ledger, rows_of(store.roots, store.names())), which)


def _require_a_person() -> None:
    reason = unattended()
    if reason:
        raise UsageError(f"{reason}: `extractord review list` and `show` say what is held, and why")


def _say(done: str, places: tuple[str, ...]) -> None:
    print(f"{done}: {printable(', '.join(places))}")
