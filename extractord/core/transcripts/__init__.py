"""The agents that can be read; a new one is a file beside this and a line here."""

from __future__ import annotations

from extractord.core.transcripts.source import Source

SOURCES: tuple[Source, ...] = ()
