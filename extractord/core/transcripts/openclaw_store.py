"""OpenClaw since it keeps its sessions in a database for each of its agents: Pi's records as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Seen
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.pi import Dialect, PiReader
from extractord.core.transcripts.source import Opened, Rows
from extractord.core.transcripts.telling import decoded

STORE = "openclaw-agent.sqlite"
ROWS = Rows(
    touched="""
        SELECT session_id, max(updated_at, coalesce(transcript_updated_at, 0)) AS at FROM session_windows
        WHERE at >= :since ORDER BY at
    """,
    records="""
        SELECT 'session' AS kind, session_id AS id, session_key AS key, spawned_by AS spawned, NULL AS event
        FROM session_windows WHERE session_id = :session
        UNION ALL
        SELECT * FROM (
            SELECT 'event', NULL, NULL, NULL, event_json FROM transcript_events
            WHERE session_id = :session ORDER BY seq
        )
    """,
)
_ITS_OWN = frozenset({Origin.RECALLED, Origin.COPIED})


class _Row(Struct):
    kind: str = ""
    id: str | None = None
    key: str | None = None
    spawned: str | None = None
    event: str | None = None


_ROW = decoder(_Row)


class OpenClawStoreReader:
    """Folds the rows of one session after another, each as if its events were lines of a file."""

    def __init__(self, _opened: Opened, dialect: Dialect) -> None:
        """Know nothing until a session's row comes."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._dialect = dialect
        self._sessions: dict[str, PiReader] = {}
        self._is_subagent = False

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row of `ROWS.records` as JSON, yield what it brings."""
        row = decoded(record, _ROW, self.unknown)
        match row.kind if row else None:
            case None:
                return
            case "session" if row and row.id:
                self.session = row.id
                self._is_subagent = bool(row.spawned) or ":subagent:" in (row.key or "")
            case "event" if row and row.event and self.session:
                for seen in self._of(self.session).feed(row.event.encode()):
                    yield self._told(seen)
            case other:
                self.unknown[(other or "")[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a row is told as it stands."""
        return iter(())

    def _of(self, session: str) -> PiReader:
        reader = self._sessions.get(session)
        if reader is None:
            reader = self._sessions[session] = PiReader(Opened(f"{session}.jsonl"), self._dialect)
            reader.unknown = self.unknown
        return reader

    def _told(self, seen: Seen) -> Seen:
        if self._is_subagent and isinstance(seen, Entry) and seen.origin not in _ITS_OWN:
            return replace(seen, origin=Origin.SUBAGENT)
        return seen
