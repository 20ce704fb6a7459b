"""A passage of ours in somebody's Markdown, between two marks."""

from __future__ import annotations

import re

from extractord.core.connecting.target import Addition, Trace

_BEGIN, _END = "<!-- extractord -->", "<!-- /extractord -->"
_PASSAGE = re.compile(rf"(?:\r?\n)?{_BEGIN}(.*?){_END}\r?\n?", re.DOTALL)


def passage(key: str, path: str, words: str) -> Addition:
    """Return the addition of a passage at the end of the file at `path`."""

    def added(text: str | None) -> tuple[str, Trace]:
        before = text or ""
        newline = "\r\n" if "\r\n" in before else "\n"
        gap = "" if not before else newline if before.endswith("\n") else newline * 2
        written = gap + newline.join([_BEGIN, *words.split("\n"), _END, ""])
        return before + written, (written,)

    def removed(text: str, trace: Trace) -> str | None:
        for written in trace:
            if text.count(written) == 1:
                return text.replace(written, "") or None
        return _PASSAGE.sub("", text) or None

    def holds(text: str) -> bool:
        return [found[1].replace("\r\n", "\n") for found in _PASSAGE.finditer(text)] == [f"\n{words}\n"]

    return Addition(key=key, path=path, added=added, removed=removed, holds=holds)
