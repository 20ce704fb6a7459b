"""What the rooms ask of the outside, each implemented by one edge and one test double."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from types import EllipsisType
from typing import Protocol

from msgspec import Struct

from extractord.core.lines import Block
from extractord.core.records import (
    Conversation,
    Deferred,
    Entry,
    Message,
    Project,
    Refusal,
    Reply,
    Seen,
    Snapshot,
    Thawed,
    Tool,
    Usage,
)
from extractord.core.surveyed import Remembered, Searchable
from extractord.core.versions import Current, Held, Intent, Placed, Proof, Tombstone, Version
from extractord.core.wire import Start
from extractord.policy.requests import PathFacts, RootKind, Trust


class Reader(Protocol):
    """Folds the records of one transcript into entries; keeps what later records refer to."""

    session: str | None
    """Of the record last fed."""
    version: str | None
    """Of the agent, where a record named it."""
    unknown: Counter[str]
    """Record types that the adapter does not know, counted."""

    def feed(self, record: bytes) -> Iterable[Seen]:
        """Given one raw record, return the entries, revisions and voids that it brings.

        Never raises for what a record holds: what cannot be decoded is counted as unknown.
        """
        ...

    def settle(self) -> Iterable[Seen]:
        """The transcript is at rest: return what waited for its successor."""
        ...


class Deferring(Protocol):
    """What lets a reader leave for later what opens, ends and voids no exchange."""

    @property
    def reader(self) -> Reader:
        """The reader, which is fed what cannot wait."""
        ...

    def skim(self, block: Block) -> Iterable[Seen | Deferred | Thawed]:
        """Given lines, yield what each brings as `feed` would, or its record, deferred.

        None is read before what came before it was taken: `thaw` may be asked in between.
        """
        ...

    def thaw(self, deferred: Deferred) -> Sequence[Entry]:
        """What just went out is needed at once: return its entries, which later records revise."""
        ...


class Folder(Protocol):
    """One memory root, reached through its descriptor and never through a link.

    Paths are relative, with `/`, and already judged. Every method raises StoreError with the
    file's name where the disk refuses.
    """

    def fileno(self) -> int:
        """The root's own descriptor, to be handed to a child."""
        ...

    def names(self) -> tuple[str, ...]:
        """Every Markdown file below the root, sorted; links and special files left out."""
        ...

    def stats(self) -> Mapping[str, tuple[int, int, int]]:
        """Size, mtime in ns and inode of each file that `names` has, sorted; in one walk."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """The bytes of a regular file of at most `limit` bytes."""
        ...

    def facts(self, path: str) -> PathFacts:
        """What stands at `path`: kind, links, owner, device, twin, size; no text, no trust."""
        ...

    def stat(self, path: str) -> tuple[int, int, int] | None:
        """Size, mtime in ns and inode of a regular file; None where there is none."""
        ...

    def write(self, path: str, data: bytes, over: bytes | EllipsisType | None = ..., token: str = "") -> None:
        """Replace the file as a whole and durably: temporary file, fsync, rename, fsync.

        `token` makes the hidden name that it has first, and then what it displaced; with one, the
        last fsync is left to `settle`. Raise ConflictError where not `over` stands there, None for no
        file: it is left as it is.
        """
        ...

    def remove(self, path: str, over: bytes | EllipsisType = ..., token: str = "") -> None:
        """Unlink the file and fsync its directory, with a token by `settle`; empty folders go too.

        Raise ConflictError where not `over` stands there: it is left as it is.
        """
        ...

    def settle(self, paths: Iterable[str]) -> None:
        """Bring to the disk what was written and removed with a token: each folder once."""
        ...

    def displaced(self, path: str, token: str) -> bytes | None:
        """What has the hidden name of a change to `path` that was cut short; None for nothing."""
        ...

    def sweep(self, keep: Container[str] = ()) -> None:
        """Unlink what has hidden names, but those of the tokens to keep; the caller holds the lock."""
        ...

    def prune(self, path: str) -> None:
        """Remove the folders above a path that are empty."""
        ...


class View(Protocol):
    """A run's read-only view of its two roots; what the child has."""

    def names(self, root: RootKind) -> tuple[str, ...]:
        """Every Markdown file below the root, sorted."""
        ...

    def read(self, root: RootKind, path: str) -> bytes:
        """The bytes as they are on disk; StoreError where they cannot be had."""
        ...

    def facts(self, root: RootKind, path: str) -> PathFacts:
        """What stands there, without trust."""
        ...


class Model(Protocol):
    """A language model, or what stands for one."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """Ask once. Raise ModelError where there is no reply."""
        ...


Complete = Callable[[Sequence[Message], Sequence[Tool]], Awaitable[Reply]]


class Link(Protocol):
    """The pipes to a process."""

    async def read(self, limit: int) -> bytes:
        """Return what it said next, at most `limit` bytes; nothing once it has ended."""
        ...

    async def write(self, data: bytes) -> None:
        """Say something to it. Raise ConnectionError where it has ended."""
        ...


class Processes(Protocol):
    """Starts processes; each is killed with its group at the end of its block."""

    def forked(self, roots: Sequence[int]) -> AbstractAsyncContextManager[Link]:
        """Give a child that has its two pipes and the descriptors of its roots."""
        ...

    def started(
        self, command: Sequence[str], environ: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Link]:
        """Give a program with this environment and no other."""
        ...


class Child(Protocol):
    """Where a run's conversation takes place."""

    async def converse(self, start: Start, roots: Sequence[int], complete: Complete) -> Conversation:
        """Given what the run starts with and its roots' descriptors, return the conversation.

        Never raises for what the child does: one that hangs, dies or lies is Ending.FAILED.
        `complete` answers its requests; what that raises passes through.
        """
        ...


class Owner(Struct, frozen=True, kw_only=True):
    """A process that holds claims; gone when pid, start time or boot no longer match."""

    pid: int
    started: int
    """Clock ticks since boot, as /proc/<pid>/stat field 22 has it."""
    boot: str


class Baseline(Struct, frozen=True, kw_only=True):
    """How far a transcript had come when it was first found: by place, never by clock."""

    path: str
    offset: int
    last_entry: str | None


class RangeState(Struct, frozen=True, kw_only=True):
    """What the ledger knows about one exchange."""

    state: str
    """open (released after an attempt), claimed, closed or baseline."""
    reason: str
    run: str | None
    attempts: int
    retry_at: datetime | None
    lost: int = 0
    """Runs in a row that went with their process; no attempts."""


class Ranges(Protocol):
    """Which exchanges are closed, claimed or to be tried again; a row an exchange."""

    def cursor(self, path: str) -> bytes | None:
        """The encoded cursor of a transcript, as `save_cursor` was given it."""
        ...

    def save_cursor(self, path: str, agent: str, session: str | None, cursor: bytes) -> None:
        """Keep how far a transcript was read."""
        ...

    def known_root(self, agent: str, root: str) -> bool:
        """True if a source's folder was baselined before."""
        ...

    def note_root(self, agent: str, root: str) -> None:
        """From now on, what appears below this folder is new."""
        ...

    def note_baseline(self, agent: str, session: str, place: Baseline) -> None:
        """All of the session up to the place was there before us."""
        ...

    def baselines(self, agent: str, session: str) -> tuple[Baseline, ...]:
        """The session's baselines, one for each file that it was found in."""
        ...

    def states(self, agent: str, session: str) -> Mapping[str, RangeState]:
        """What is known of each exchange of the session, by its key."""
        ...

    def elsewhere(self, agent: str, session: str, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys that another session of the agent had first: copies."""
        ...

    def close(self, agent: str, session: str, keys: Iterable[str], reason: str, now: datetime) -> None:
        """Close exchanges without a run, with the gate's reason."""
        ...

    def claim(
        self, agent: str, session: str, keys: Iterable[str], run: str, owner: Owner, now: datetime
    ) -> bool:
        """Claim all of the exchanges for a run, or none where one is closed or claimed."""
        ...

    def holds(self, run: str, owner: Owner) -> bool:
        """True if the run's claim is still its owner's; asked inside the commit."""
        ...

    def close_run(self, run: str, reason: str, now: datetime) -> None:
        """Close what the run claimed; the claim stays until the run's own row is closed: `finish`."""
        ...

    def finish(self, run: str, reason: str, now: datetime) -> None:
        """Close what the run claimed, and let the claim go."""
        ...

    def release(self, run: str, *, attempted: bool, retry_at: datetime | None, reason: str = "") -> None:
        """Give back what the run claimed; `attempted` counts."""
        ...

    def reap(self, now: datetime) -> tuple[str, ...]:
        """Release the claims of owners that are gone; return their runs.

        From the third run in a row that went with its process the exchanges wait, doubling to an hour.
        """
        ...

    def reopen(self, run: str) -> int:
        """Open what the run closed, as if never attempted; return how many exchanges.

        The session's cursors go too, so that its transcripts are read anew.
        """
        ...

    def open_sessions(self) -> Mapping[tuple[str, str], str]:
        """Agent and session of every exchange that was released or lost, and waits.

        Each with a mark that is another one when anything of it changed.
        """
        ...

    def project(self, agent: str, session: str, cwd: str) -> Project | None:
        """The project that a (session, cwd) was given when it was first seen."""
        ...

    def note_project(self, agent: str, session: str, cwd: str, project: Project) -> None:
        """Keep it: the directory may be gone tomorrow."""
        ...


class Spent(Struct, frozen=True, kw_only=True):
    """What requests cost over some time."""

    requests: int = 0
    tokens: int = 0
    dollars: float = 0.0


class RunRow(Struct, frozen=True, kw_only=True):
    """A run as the ledger keeps it, and as `--json` prints it."""

    run: str
    agent: str
    session: str
    project: str
    model: str
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str = "running"
    reason: str = ""
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    denied: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    ms: int = 0
    confinement: str = ""


class Runner(Protocol):
    """What becomes of a snapshot: a run here, or its way to another machine."""

    @property
    def is_ready(self) -> bool:
        """False while nothing can be begun."""
        ...

    async def run(self, snapshot: Snapshot) -> RunRow | None:
        """Given a snapshot, return the run's row; None where somebody else has its range."""
        ...


class SpentOn(Struct, frozen=True, kw_only=True):
    """What was spent with one model on one project."""

    model: str
    project: str
    spent: Spent


class RequestRow(Struct, frozen=True, kw_only=True):
    """One request of a run."""

    at: datetime
    usage: Usage
    fault: str | None = None


class Runs(Protocol):
    """Every run, and a row for every request that it made."""

    def start(self, row: RunRow) -> None:
        """A run begins."""
        ...

    def finish(self, row: RunRow) -> None:
        """A run ended; the row replaces the one that it began with."""
        ...

    def spend(self, run: str, usage: Usage, now: datetime, fault: str | None) -> None:
        """A request was made; a failed one counts as a request."""
        ...

    def spent(self, since: datetime, run: str | None = None) -> Spent:
        """What was spent since then, of one run or of all."""
        ...

    def spent_on(self, since: datetime) -> tuple[SpentOn, ...]:
        """What was spent since then, by model and project, the most first."""
        ...

    def requests(self, run: str) -> tuple[RequestRow, ...]:
        """A run's requests, oldest first."""
        ...

    def begin_request(self, run: str, now: datetime) -> int:
        """A request is about to be made: it counts from here on, whatever becomes of this process."""
        ...

    def end_request(self, request: int, usage: Usage, fault: str | None) -> None:
        """What it came to."""
        ...

    def withdraw_request(self, request: int) -> None:
        """It was not made after all."""
        ...

    def kept_open(self) -> tuple[bytes, ...]:
        """The kept briefs of runs whose exchanges are open again."""
        ...

    def usage(self, run: str) -> tuple[int, Usage]:
        """A run's requests, counted, and what they cost together."""
        ...

    def recent(self, limit: int) -> tuple[RunRow, ...]:
        """The newest runs, newest first."""
        ...

    def one(self, run: str) -> RunRow | None:
        """A run by its id, or by the beginning of it where that is unique."""
        ...

    def keep_brief(self, run: str, brief: bytes) -> None:
        """Keep a parked run's redacted brief, encoded: its transcript may be purged before a retry."""
        ...

    def kept_brief(self, run: str) -> bytes | None:
        """The brief that was kept of a run."""
        ...


class AuditRow(Struct, frozen=True, kw_only=True):
    """One row of the audit."""

    id: int
    at: datetime
    kind: str
    subject: str
    detail: dict[str, object]
    hash: str


class Audit(Protocol):
    """Append-only, hash-chained rows; ids and rule names, never a transcript's text."""

    def refused(
        self, run: str, by: str, refusals: Iterable[Refusal], confinement: str, now: datetime
    ) -> None:
        """Rows for requests that were not granted, by `child` or `store`."""
        ...

    def allowed(self, run: str, requests: Iterable[Refusal], confinement: str, now: datetime) -> None:
        """Rows for requests that the store granted."""
        ...

    def note(self, kind: str, subject: str, detail: Mapping[str, object], now: datetime) -> None:
        """A row for a commit, a review, an undo; it says what this process gave up."""
        ...

    def head(self) -> str:
        """The newest row's hash."""
        ...

    def recent(self, limit: int) -> tuple[AuditRow, ...]:
        """The newest rows, newest first."""
        ...

    def about(self, subject: str) -> tuple[AuditRow, ...]:
        """Every row of one subject, a run's or a memory's, oldest first."""
        ...

    def verify(self) -> int:
        """Given the chain, return the number of rows. Raise LedgerError where it is broken."""
        ...


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


class Home(Struct, frozen=True, kw_only=True):
    """A project as its sessions named it."""

    slug: str
    identity: str
    directory: str
    sessions: int


class Rehoming(Protocol):
    """A root that gets another name: everything that the ledger knows of it follows."""

    def homes(self) -> tuple[Home, ...]:
        """Every project that a session was found in, by its folder."""
        ...

    def begin_move(self, old: str, new: str, project: Project) -> None:
        """An intent to give the root `old` the name `new`, since it belongs to that project."""
        ...

    def open_moves(self) -> tuple[tuple[str, str, Project], ...]:
        """Moves that were neither done nor undone: what a crash left."""
        ...

    def end_move(self, old: str) -> None:
        """The move did not come about."""
        ...

    def move(self, old: str, new: str, project: Project) -> None:
        """The root has its new name: so has all that is known of it, and its sessions belong there."""
        ...

    def merge(self, old: str, new: str, project: Project, names: Mapping[str, str]) -> None:
        """The memories of the root `old` are in `new`, each path under its new name: so is their history."""
        ...


class Expired(Struct, frozen=True, kw_only=True):
    """What is older than a person wants it kept."""

    versions: int = 0
    memories: int = 0
    """Of so many memories the versions are."""
    audit_rows: int = 0
    runs: int = 0
    """With their requests and the briefs that were kept of them."""
    held: int = 0
    """Of what was held, and is decided."""


class Retention(Protocol):
    """What is kept no longer than a person wants."""

    def expired(
        self, history: datetime | None, rows: datetime | None, runs: datetime | None = None
    ) -> Expired:
        """What is older than these moments, None for no limit; the newest of each always stays."""
        ...

    def expire(
        self, history: datetime | None, rows: datetime | None, runs: datetime | None, now: datetime
    ) -> Expired:
        """Let it go; return what went."""
        ...


class Standing(Protocol):
    """How things stand."""

    def as_left(self, row: RunRow) -> RunRow:
        """Given a run's row, return it as it is, or as a process that is gone left it."""
        ...


class Ledger(Protocol):
    """The database with everything that is not a memory."""

    @property
    def ranges(self) -> Ranges:
        """What was read."""
        ...

    @property
    def runs(self) -> Runs:
        """What was run and spent."""
        ...

    @property
    def audit(self) -> Audit:
        """What was asked and answered."""
        ...

    @property
    def standing(self) -> Standing:
        """How things stand."""
        ...

    @property
    def versions(self) -> Versions:
        """What is known about memories."""
        ...

    @property
    def surveys(self) -> Surveys:
        """What memories said when they were last read."""
        ...

    @property
    def uses(self) -> Uses:
        """What was opened."""
        ...

    @property
    def rehoming(self) -> Rehoming:
        """Where projects are."""
        ...

    @property
    def retention(self) -> Retention:
        """What is too old to be kept."""
        ...

    def was_changed(self) -> bool:
        """True if another connection changed it since this was last asked, or it never was."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, durable at its end; one inside another joins it."""
        ...
