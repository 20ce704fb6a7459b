"""Things told one under another, for people: as wide as their terminal, and unbroken in a pipe."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from extractord.core.printable import printable

_INDENT = "    "
_NARROWEST = 40


def counted(number: int, thing: str, things: str = "") -> str:
    """Given a number of things, return both in words."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing: what it is called, what is known of it, and the lines of what it says."""

    name: str
    about: str
    says: tuple[str, ...] = ()
    is_void: bool = False
    """It counts no more: it is struck through."""
    ends: bool = False
    """What comes next stands apart."""


def print_items(items: Iterable[Item]) -> None:
    """Given things, in words that others wrote, print each: a line of its own, and below it what it says."""
    from rich.console import Console  # noqa: PLC0415 - only a person needs colours
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    wide = max(console.width, _NARROWEST) - len(_INDENT)
    for item in items:
        style = "dim strike" if item.is_void else ""
        console.print(
            Text.assemble((printable(item.name), style or "bold"), (f"  {printable(item.about)}", style))
        )
        for said in item.says:
            words = Text(printable(said), style)
            for line in words.wrap(console, wide) if console.is_terminal else [words]:
                line.rstrip()
                console.print(Text(_INDENT) + line)
        if item.ends:
            console.print()


def hung(head: str, words: str) -> str:
    """Given what a line begins with and its words, return it with its further lines below the words."""
    if not sys.stdout.isatty():
        return head + words
    wide = max(shutil.get_terminal_size().columns, len(head) + _NARROWEST)
    return textwrap.fill(
        words,
        wide,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
