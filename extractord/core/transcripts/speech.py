"""What a session's records say, told once each; what has no id of its own is known by its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.commontools import common_call
from extractord.core.transcripts.recorded import instant, shortened, text_key
from extractord.core.transcripts.telling import Told, pieces, result_origin

_WIDE = 20
"""An id as long as this is unique everywhere (UUID, ULID); a shorter one only in its session."""


class Speech:
    """Makes entries of one session after another, and tells them as news."""

    def __init__(self, agent: str, session: str) -> None:
        """Begin with the session that is meant where the records name none."""
        self.agent = agent
        self.session = session
        self.cwd: str | None = None
        self.branch: str | None = None
        self.is_subagent = False
        self._known_as = session
        self._told = Told()
        self._texts: Counter[str] = Counter()
        self._calls: dict[str, str] = {}

    def begin(self, session: str, parent: str | None = None) -> None:
        """The session's records come from the first on, maybe again.

        What is said again of a `parent` that the session goes on from has the same key in both.
        """
        self.session, self._known_as = session, parent or session
        self._texts.clear()

    def entry(
        self,
        role: Role,
        origin: Origin,
        text: str,
        ident: str | None = None,
        time: object = None,
        about: str = "",
    ) -> Entry:
        """An entry of the session; without an `ident` it is keyed by its words and how often they came.

        `about` is what else tells it from others of the same role and text.
        """
        if self.is_subagent and origin is not Origin.RECALLED:
            origin = Origin.SUBAGENT
        if not ident:
            words = f"{role}\n{text}\n{about}" if about else f"{role}\n{text}"
            first = text_key(words, 0)
            ident = text_key(words, self._texts[first])
            self._texts[first] += 1
            ident = f"{self._known_as}/{ident}"
        elif len(ident) < _WIDE and not ident.startswith(f"{self.session}/"):
            ident = f"{self.session}/{ident}"
        return Entry(
            id=ident,
            agent=self.agent,
            session=self.session,
            role=role,
            origin=origin,
            text=text,
            time=time if isinstance(time, datetime) else instant(time),
            cwd=self.cwd,
            branch=self.branch,
        )

    def prompted(
        self, entry: Entry, wrappers: re.Pattern[str] | None = None, said: str | None = None
    ) -> Iterator[Entry]:
        """A prompt, apart from what was put round it; see `pieces`."""
        for each in pieces(entry, wrappers, said):
            yield from self._told.tell(each)

    def answered(
        self, entry: Entry, calls: Iterable[ToolCall] = (), *, ended: bool = False
    ) -> Iterator[Entry]:
        """What the agent said and asked its tools; nothing where it is neither."""
        made = tuple(calls)
        if entry.text.strip() or made or ended:
            yield from self._told.tell(replace(entry, calls=made, turn_end=ended))

    def aside(self, entry: Entry) -> Iterator[Entry]:
        """A summary, a notice: told as it is, if it says anything."""
        if entry.text.strip():
            yield from self._told.tell(entry)

    def call(self, ident: str, name: str, arguments: object) -> ToolCall:
        """A call as the common tools understand it."""
        self._calls[ident] = name
        return common_call(ident, name, arguments, self.cwd)

    def result(
        self, call: str, text: str, *, ok: bool | None, time: object = None, name: str = ""
    ) -> Iterator[Entry]:
        """A tool's result, and the call's outcome where it is known."""
        if ok is not None:
            yield from self._told.outcome(call, ok=ok)
        shown = shortened(text)
        origin = result_origin(name or self._calls.get(call, ""), shown, Origin.SYNTHETIC)
        yield from self.aside(self.entry(Role.TOOL, origin, shown, f"{call}/result", time))
