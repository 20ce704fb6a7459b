"""Whether the cited words stand in the entries as they were shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from unicodedata import normalize

from extractord.core.folding import fold_space
from extractord.core.records import Evidence, Shown
from extractord.core.words import count_words
from extractord.policy.requests import Trust

LEAST_WORDS = 3

MARK = re.compile(r"\[redacted: [\w .-]{1,60}\]|\[… [^\[\]\n]{1,80} left out\]|\[image\]")
"""What stands for what was not shown: no quote runs across one."""


def gap(what: str) -> str:
    """Given what was left out (`12 lines`), return the mark for it."""
    return f"[… {what} left out]"


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a shown entry between marks, of one trust; white space folded."""

    text: str
    trust: Trust
    echoed: frozenset[str] = frozenset()
    """Runs of four words that repeat earlier untrusted text."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A shown entry, taken apart by whose words it holds."""

    shown: Shown
    passages: tuple[Passage, ...]

    @property
    def said_on(self) -> date | None:
        """The person's calendar day on which it was said; None where nobody knows."""
        time = self.shown.entry.time
        return self.shown.said_on or (time.date() if time is not None else None)


@dataclass(frozen=True, slots=True)
class Citation:
    """What the evidence comes to: the lowest origin cited, or what is wrong with it."""

    trust: Trust
    reason: str
    """What is wrong, a colon, and what to do about it."""
    quotes: tuple[tuple[Heard, str], ...] = ()
    """Each verified quote with its entry; empty where one was not verified."""


def cite(entries: Mapping[str, Heard], evidence: Sequence[Evidence]) -> Citation:
    """Given the entries by label and what is cited, return the lowest trust of it.

    A quote is a verbatim stretch of one passage, white space folded: three words, or the whole
    entry (DESIGN §5). One that cannot be found makes all of it untrusted.
    """
    if not evidence:
        return Citation(Trust.UNTRUSTED, "No evidence was given: quote the entry where the person says it.")
    lowest, reason = Trust.CONFIRMED, ""
    quotes: list[tuple[Heard, str]] = []
    for item in evidence:
        heard = entries.get(item.entry.strip(" []").partition(" ")[0])
        if heard is None:
            return Citation(
                Trust.UNTRUSTED,
                f"There is no entry {item.entry[:40]!r}: cite a label that was shown, as `e3`.",
            )
        quote = plain(item.quote)
        trust = _trust_of(heard, quote)
        if trust is None:
            return Citation(Trust.UNTRUSTED, _not_found(heard, quote))
        quotes.append((heard, quote))
        if trust < lowest:
            lowest, reason = trust, _whose(heard, trust)
    return Citation(lowest, reason, tuple(quotes))


def plain(text: str) -> str:
    """Given a text, return it as quotes are compared: composed, white space folded."""
    return fold_space(normalize("NFC", text))


def _trust_of(heard: Heard, quote: str) -> Trust | None:
    """The best trust of the passages that hold the quote; None where none does."""
    if not quote:
        return None
    whole = " ".join(passage.text for passage in heard.passages if passage.text)
    if count_words(quote) < LEAST_WORDS and quote != whole:
        return None
    found = [passage for passage in heard.passages if quote in passage.text]
    if not found:
        if quote == whole and not MARK.search(heard.shown.text):
            return min(passage.trust for passage in heard.passages)
        return None
    return max(passage.trust for passage in found)


def _not_found(heard: Heard, quote: str) -> str:
    label = heard.shown.label
    if count_words(quote) < LEAST_WORDS:
        return f"Its quote is too short: give {LEAST_WORDS} words of {label} in a row, or the whole entry."
    return f"Its quote does not stand there word for word: copy a stretch of {label} that crosses no mark."


def _whose(heard: Heard, trust: Trust) -> str:
    label = heard.shown.label
    match trust:
        case Trust.UNTRUSTED:
            return f"Its quote is a tool's, a page's or a paste's: quote the person's own words, not {label}."
        case Trust.INFERRED:
            return (
                f"Its quote is the agent's or a program's: quote the person where they say it, not {label}."
            )
        case Trust.STATED | Trust.CONFIRMED:
            return ""
