"""What `--json` prints: an object a line, which a terminal can be given too."""

from __future__ import annotations

import json

import msgspec


def json_line(value: object) -> str:
    """Given a value, return it as one line of JSON.

    What others wrote may hold characters that a terminal obeys or that reorder a line (DEL, C1,
    bidirectional marks): they are escaped, as JSON asks only for those below a space (RFC 8259 §7).
    """
    line = msgspec.json.encode(value).decode()
    if line.isprintable():
        return line
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)


def print_json(value: object, *, flush: bool = False) -> None:
    """Print a value as one line of JSON."""
    print(json_line(value), flush=flush)
