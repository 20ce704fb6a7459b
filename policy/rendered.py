"""A text as a page shows it."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

_MARKUP = re.compile(r"\\(?=[!-/:-@\[-`{-~])|[*`]")


def as_rendered(text: str) -> str:
    """Given a text, return it with entities, Markdown's escapes and emphasis, and percent signs undone."""
    return unquote(html.unescape(_MARKUP.sub("", text)))
