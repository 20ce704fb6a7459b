"""Tells a reply that only says it saved something from one that has nothing to save."""

from __future__ import annotations

import re

READ_CHARACTERS = 4000
"""Of a reply's text so much is looked at."""

_PRETENDED_CALL = re.compile(
    r"<(?:tool_call|function_calls?|invoke|function=)|\"(?:name|tool|function)\"\s*:\s*\"(?:Write|Edit|Bash|Finish)\""
    r"|\b(?:Write|Edit|Bash)\s*\(|^[^\S\n]*rm\s+/memory/",
    re.MULTILINE,
)
_SAID_SAVED = re.compile(
    r"\b(?:saved|stored|recorded|noted|remembered|memori[sz]ed|written|wrote|updated|added|created|removed|deleted)\b"
    r"|\bI(?:'ll| will| shall| am going to|'ve| have)\s+(?:now\s+)?"
    r"(?:save|store|record|note|remember|write|update|add|create|remove)"
    r"|\b(?:gespeichert|gemerkt|notiert|festgehalten|enregistré|noté|mémorisé|guardado|anotado|recordado)"
    r"|已(?:经)?(?:保存|记录|记住|更新|写入)|保存しました|記録しました|覚えました|更新しました",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:no|not|nothing|none|never|without|cannot|nichts?|keine?|nicht|rien|aucune?|pas|nada|ning[uú]na?|sin)\b"
    r"|n['\u2019]t\b|没有|沒有|无需|不需要|不用|ありません|ません|なし",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?\u3002\uff01\uff1f\n]+")


def claims_save(text: str) -> bool:
    """True if the text says that something was or will be saved, or plays at calling a tool."""
    text = text[:READ_CHARACTERS]
    if _PRETENDED_CALL.search(text):
        return True
    return any(_SAID_SAVED.search(part) and not _NOT.search(part) for part in _SENTENCE.split(text))
