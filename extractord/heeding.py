"""What happens below <memory> without us: people's edits, and what agents write there themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from extractord.edges.store import Store
from extractord.errors import ConflictError, StoreError


class Heeding:
    """Has the store look, at the start and from time to time, and when a transcript shows a write."""

    def __init__(
        self, store: Store, say: Callable[[str], None], clock: Callable[[], datetime], every_s: float
    ) -> None:
        """`say` is told what a person should know; every root is looked at again after `every_s`."""
        self._store = store
        self._say = say
        self._clock = clock
        self._every = timedelta(seconds=every_s)
        self._due = clock()
        self._said: set[str] = set()

    def look(self) -> None:
        """Where it is time, look at every root: a root that cannot be used is said once, the others go on."""
        now = self._clock()
        if now < self._due:
            return
        self._due = now + self._every
        said: set[str] = set()
        for root in self._store.names():
            try:
                said.update(self._store.notice([root]))
            except ConflictError:
                self._due = now  # another process writes: at the next tick
            except StoreError as error:
                said.add(str(error))
        for warning in sorted(said - self._said):
            self._say(warning)
        self._said = said

    def witness(self, places: Iterable[str]) -> None:
        """A transcript shows that an agent wrote these files below <memory>."""
        places = tuple(places)
        if not places:
            return
        try:
            self._store.witness(places)
        except StoreError as error:
            self._say(str(error))
