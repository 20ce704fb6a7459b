"""Codex's oldest rollouts: one document a session, with the items that lines held later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
from msgspec import Raw, Struct

from extractord.core.records import Entry, Seen
from extractord.core.transcripts.codex_thread import CodexThread
from extractord.core.transcripts.decoding import decoder, is_blank


class Document(Struct):
    """A whole session as versions before JSONL wrote it."""

    session: Raw = Raw()
    items: list[Raw] | None = None


_decode = decoder(Document)


class CodexDocument:
    """Folds a document that is rewritten as a whole: each time, what is new or changed goes out."""

    def __init__(self, path: str) -> None:
        """Remember the path for the thread's id."""
        self._path = path
        self._known: dict[str, Entry] = {}
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()

    def feed(self, record: bytes) -> Iterable[Seen]:
        """Given the document, return the entries that it brings since it was last fed."""
        document = _decode(record)
        if document is None or document.items is None:
            if not is_blank(record):
                self.unknown["undecodable"] += 1
            return ()
        lines = CodexThread(self._path)
        newest: dict[str, Entry] = {}
        for raw in (document.session, *document.items):
            for seen in lines.feed(bytes(raw)) if bytes(raw) else ():
                if isinstance(seen, Entry):
                    newest[seen.id] = seen
        self.session, self.version, self.unknown = lines.session, lines.version, lines.unknown
        return [changed for entry in newest.values() for changed in self._changed(entry)]

    def settle(self) -> Iterable[Seen]:
        """Nothing waits."""
        return ()

    def _changed(self, entry: Entry) -> Iterable[Entry]:
        before = self._known.get(entry.id)
        if before is not None:
            entry = msgspec.structs.replace(entry, revision=before.revision)
            if entry == before:
                return
            entry = msgspec.structs.replace(entry, revision=before.revision + 1)
        self._known[entry.id] = entry
        yield entry
