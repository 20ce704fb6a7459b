"""The three answers of the law, ordered by strictness."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allow:
    """Nothing speaks against it."""

    @property
    def word(self) -> str:
        """The word that the command line and the audit use."""
        return "allow"


@dataclass(frozen=True, slots=True)
class Hold:
    """A person has to look at it first; `reason` is a sentence for model and person."""

    rule: str
    reason: str

    @property
    def word(self) -> str:
        """The word that the command line and the audit use."""
        return "hold"


@dataclass(frozen=True, slots=True)
class Deny:
    """It is refused; `reason` says what to do instead."""

    rule: str
    reason: str

    @property
    def word(self) -> str:
        """The word that the command line and the audit use."""
        return "deny"


Verdict = Allow | Hold | Deny

_STRICTNESS = {Allow: 0, Hold: 1, Deny: 2}


def strictness(verdict: Verdict) -> int:
    """Given a verdict, return its place in Allow < Hold < Deny."""
    return _STRICTNESS[type(verdict)]
