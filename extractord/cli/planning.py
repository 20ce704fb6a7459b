"""What `install` and `uninstall` would do to which files; nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from msgspec.structs import replace

from extractord.core.connecting.target import Addition, Receipt
from extractord.edges.personal import read
from extractord.errors import InstallError


@dataclass(slots=True)
class Plan:
    """Each file's text as it is and as it will be, None for no file; and the receipts that will be."""

    now: dict[str, str | None] = field(default_factory=dict)
    then: dict[str, str | None] = field(default_factory=dict)
    receipts: dict[tuple[str, str], Receipt] = field(default_factory=dict)

    @property
    def changed(self) -> list[str]:
        """The paths whose file will be another."""
        return [path for path, text in self.then.items() if text != self.now[path]]

    def text(self, path: str) -> str | None:
        """A file's text as it will be."""
        if path not in self.now:
            self.now[path] = self.then[path] = read(path)
        return self.then[path]


def put_in(additions: Iterable[Addition], receipts: Iterable[Receipt]) -> Plan:
    """Given what is to be in the files and what is in them, return the plan. Raise InstallError."""
    plan = Plan(receipts={(each.key, each.path): each for each in receipts})
    for addition in additions:
        at = (addition.key, addition.path)
        text, known = plan.text(addition.path), plan.receipts.get(at)
        kept = known or Receipt(
            key=addition.key, path=addition.path, existed=plan.now[addition.path] is not None
        )
        with _of(addition.path):
            if text is not None and addition.holds(text):
                trace = kept.trace
            else:
                without = _without(addition, addition.path, text, known)
                plan.then[addition.path], trace = addition.added(without)
        plan.receipts[at] = replace(kept, trace=trace)
    return plan


def take_out(additions: Iterable[Addition], receipts: Iterable[Receipt]) -> Plan:
    """Given all that may be in the files and what is known to be, return the plan. Raise InstallError."""
    known = {(each.key, each.path): each for each in receipts}
    plan = Plan(receipts=dict(known))
    for addition in reversed(list(additions)):
        paths = {addition.path, *(path for key, path in known if key == addition.key)}
        for path in sorted(paths):
            receipt = known.get((addition.key, path))
            plan.then[path] = _without(addition, path, plan.text(path), receipt)
            plan.receipts.pop((addition.key, path), None)
    return plan


def _without(addition: Addition, path: str, text: str | None, receipt: Receipt | None) -> str | None:
    """A file's text without an addition; a file that was there before us stays one."""
    if text is None:
        return None
    with _of(path):
        left = addition.removed(text, receipt.trace if receipt else ())
    return "" if left is None and receipt is not None and receipt.existed else left


@contextmanager
def _of(path: str) -> Iterator[None]:
    """Say of which file it is that something cannot be understood."""
    try:
        yield
    except InstallError as error:
        said = str(error)
        raise InstallError(said if said.startswith(path) else f"{path}: {said}") from error
