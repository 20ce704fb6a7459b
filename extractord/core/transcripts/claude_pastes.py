"""What of a prompt Claude Code marks as pasted, as it does since 2.1."""

from __future__ import annotations

import re
from collections import defaultdict, deque

_OPENED = re.compile(r'<pasted_content id="([0-9a-f]{4})">\n')
_CLOSED = re.compile(r'\n</pasted_content id="([0-9a-f]{4})">')


def typed_and_pasted(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Given a person's words, return them without the marks of pastes, and where those stand.

    A paste ends at the first end mark of its id; the program breaks what looks like one in it.
    """
    if "<pasted_content " not in text:
        return text, ()
    ends = defaultdict[str, deque[re.Match[str]]](deque)
    for closed in _CLOSED.finditer(text):
        ends[closed[1]].append(closed)
    kept: list[str] = []
    spans: list[tuple[int, int]] = []
    length = position = 0
    for opened in _OPENED.finditer(text):
        waiting = ends[opened[1]]
        while waiting and waiting[0].start() < opened.end() - 1:
            waiting.popleft()
        if not waiting or opened.start() < position:
            continue
        closed = waiting.popleft()
        before, inside = text[position : opened.start()], text[opened.end() : closed.start()]
        start = length + len(before)
        kept += before, inside
        length, position = start + len(inside), closed.end()
        spans.append((start, length))
    return "".join((*kept, text[position:])), tuple(spans)
