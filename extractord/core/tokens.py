"""A safe estimate of tokens: too many rather than too few, for any provider's tokenizer."""

from __future__ import annotations

_ASCII_A_TOKEN = 3
_BYTES_A_TOKEN = 2


def estimate_tokens(text: str) -> int:
    """Given a text, return about how many tokens it is, rounded up.

    Three ASCII characters a token (prose has four, code and figures three), two bytes of UTF-8
    for all else: a Han character is one and a half.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    plain = size if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // _ASCII_A_TOKEN) + -(-(size - plain) // _BYTES_A_TOKEN)
