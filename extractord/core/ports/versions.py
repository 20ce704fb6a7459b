"""What the ledger keeps of memories: versions, trust, what is held, what was opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from extractord.core.surveyed import Remembered, Searchable
from extractord.core.versions import Current, Held, Intent, Placed, Proof, Tombstone, Version
from extractord.policy.requests import Trust


class Versions(Protocol):
    """Versions of memories, their trust, intents, tombstones, what is held; for the store alone.

    A method is one statement or a few: what belongs together stands in one `transaction`.
    """

    def current(self, root: str) -> Mapping[str, Current]:
        """The current version of each path of a root."""
        ...

    def current_of(self, root: str, path: str) -> Current | None:
        """The current version of one path; None where the ledger knows none."""
        ...

    def set_current(self, root: str, path: str, current: Current | None) -> None:
        """From now on this is the current version of the path; None where there is none."""
        ...

    def keep(self, raw: bytes) -> str:
        """Keep bytes under their SHA-256; return it."""
        ...

    def content(self, sha256: str) -> bytes | None:
        """The bytes that were kept; None where they never were, or were purged."""
        ...

    def note(
        self, root: str, path: str, sha256: str | None, by: str, trust: Trust | None, at: datetime
    ) -> None:
        """A row of the history: a new version, or its end."""
        ...

    def history(self, root: str, path: str) -> tuple[Version, ...]:
        """Every version of a path, oldest first."""
        ...

    def is_cut(self, root: str, path: str) -> bool:
        """True if a file stood at the path before the first version that is still known of it."""
        ...

    def made_by(self, by: str) -> tuple[Version, ...]:
        """Every version that a run made, oldest first."""
        ...

    def paths(self, root: str) -> tuple[str, ...]:
        """Every path of a root that has a history, sorted."""
        ...

    def purge(self, root: str, path: str) -> tuple[str, ...]:
        """Erase the history of a path, of those that it was renamed from too; return the paths.

        The bytes that nothing else needs go, and the words of what was held of them and is decided.
        """
        ...

    def prove(self, root: str, path: str, proofs: Iterable[Proof]) -> None:
        """A memory rests on these entries too; they are known of a path when its file is gone."""
        ...

    def proofs(self, root: str, path: str) -> tuple[Proof, ...]:
        """The entries that a memory rests on."""
        ...

    def begin(self, run: str, placed: Iterable[Placed], at: datetime) -> int:
        """An intent to change files; return its id."""
        ...

    def open_intents(self) -> tuple[Intent, ...]:
        """Intents that were neither done nor undone, newest first: what a crash left."""
        ...

    def end(self, intent: int) -> None:
        """The intent is done or undone: it goes, and with it the bytes that only it needed."""
        ...

    def bury(self, stones: Iterable[Tombstone]) -> None:
        """Keep tombstones; those that are known stay as they are."""
        ...

    def tombstones(self, keys: Iterable[str] | None = None) -> tuple[Tombstone, ...]:
        """The tombstones with one of these evidence keys; all of them without."""
        ...

    def hold(self, held: Held) -> bool:
        """Keep what waits for a person; False where the same waits, or was decided on words no older."""
        ...

    def held(self, state: str = "waiting") -> tuple[Held, ...]:
        """What is held in a state, oldest first."""
        ...

    def settle(self, held: int, state: str) -> bool:
        """What was held is `accepted`, `rejected` or `stale`; False where that was decided before."""
        ...


class Surveys(Protocol):
    """What the files of a root said when they were last read, so that only changed ones are read again."""

    def known(self, root: str, law: str) -> Mapping[str, Remembered]:
        """What each file of a root said, by path, when it was read under this very law."""
        ...

    def one(self, root: str, law: str, path: str) -> Remembered | None:
        """The same of one file; None where it was not read under this law."""
        ...

    def keep(
        self, root: str, law: str, rows: Iterable[Remembered], texts: Iterable[tuple[str, str]] = ()
    ) -> None:
        """From now on this is what these files say; `texts` has, by path, what can be searched of some."""
        ...

    def texts(self, root: str, law: str) -> Iterable[Searchable]:
        """What can be searched of the files of a root, and how the ledger has them stand."""
        ...

    def forget(self, root: str, paths: Iterable[str]) -> None:
        """These files are gone."""
        ...


class Opened(Struct, frozen=True, kw_only=True):
    """How often a memory was opened by watched agents."""

    times: int
    """Exchanges in which it was."""
    sessions: int
    last_at: datetime


class Uses(Protocol):
    """What agents opened of the memories, and in how many sessions they could have."""

    def note(
        self, slug: str, agent: str, session: str, exchange: str, places: Iterable[str], at: datetime
    ) -> None:
        """An exchange of a project was seen, and these memories, as `root/path`, were opened in it."""
        ...

    def opened(self, root: str) -> Mapping[str, Opened]:
        """How often the memories of a root were opened, by path; those that never were are left out."""
        ...

    def since(self, root: str) -> Mapping[str, datetime]:
        """When the ledger first knew the memories of a root, by path."""
        ...

    def chances(self, root: str) -> tuple[datetime, ...]:
        """When each session that could have opened a root's memories was last seen, oldest first."""
        ...

    def forget(self, root: str, paths: Iterable[str]) -> None:
        """Nothing is known any more of who opened these."""
        ...
