"""Words that turn what is said: never, always and only, in several languages."""

from __future__ import annotations

from extractord.core.folding import fold
from extractord.core.reading_words import Reading

_DENYING = """
no not never without neither nor none nothing t cannot nie niemals nicht kein keine keinen keiner keinem ohne
jamais sans pas aucun aucune ni nunca jamas sin ningun ninguna ninguno nada
"""
_LASTING = "always immer stets toujours siempre"
_NARROWING = "only nur solo solamente unicamente seulement uniquement"
_TURNS = {
    word: sign
    for sign, words in (("-", _DENYING), ("+", _LASTING), ("!", _NARROWING))
    for word in fold(words).split()
}


def turns(reading: Reading) -> frozenset[str]:
    """Given a text as it was read, return what is turned in it: each turning word's sign with the next stem.

    `Never skip tests` and `don't skip tests` turn the same; `skip tests` turns nothing.
    """
    found: set[str] = set()
    sign: str | None = None
    for unit, stem in zip(reading.units, reading.stems, strict=True):
        if stem is not None and sign is not None:
            found.add(f"{sign} {stem}")
        if stem is not None:
            sign = None
        sign = _TURNS.get(unit, sign)
    return frozenset(found)
