"""Secrets that are known by what stands before them, and what stands there but is none."""

from __future__ import annotations

import re

from extractord.policy.credentials import Shape

_PLACEHOLDER = re.compile(
    r"example|changeme|change_me|placeholder|redacted|dummy|sample|your[_-]?|my[_-](?:pass|secret|token|key)"
    r"|x{4}|\*{3}|\.{3}|\u2026|todo|none|null|secretref|process\.env|os\.environ|getenv|env\[|vault:",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"[$%{<(\[/~].*"  # a variable, a tag, a path
    r"|.*://.*"
    r"|[A-Za-z_]\w*(?:[.:](?!\d)[A-Za-z_]\w*)+[(\[]?.*"  # a.b.c, a::b
    r"|[A-Za-z_]\w*[(\[].*"  # a call
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # an environment name
    r"|[a-z]+(?:[_-][a-z]+)*|[a-z0-9]+(?:_[a-z0-9]+){2,}"  # an identifier
    r"|\d+\.\d+",
    re.DOTALL,
)
_DIGIT = re.compile(r"\d")
_SIGN = re.compile(r"[!@#$%^&?](?=\w)|(?<=\w)[!@#$%^&?]{2}")
_LONG_WORD = re.compile(r"[a-z]{20,}")
_LOWER = re.compile(r"[a-z_-]+")


def is_placeholder(value: str) -> bool:
    """True for a value that names a secret, or stands where one would be, but is none.

    Environment names, calls, paths, references in braces, plain words, and whatever has no digit.
    """
    bare = value.rstrip(".,;:!?)*")
    return (
        _DIGIT.search(bare) is None
        or _PLACEHOLDER.search(bare) is not None
        or _REFERENCE.fullmatch(bare) is not None
    )


def is_no_password(value: str) -> bool:
    """True for what stands after `password:` but is none.

    A password without a digit is known by a sign inside it, or by being one very long word.
    """
    bare = value.rstrip(".,;:!?)*")
    if _PLACEHOLDER.search(bare) or (_REFERENCE.fullmatch(bare) and not _LONG_WORD.fullmatch(bare)):
        return True
    return _DIGIT.search(bare) is None and not _SIGN.search(bare) and not _LONG_WORD.fullmatch(bare)


def is_plain_word(value: str) -> bool:
    """True for what stands in an example URL: lower-case letters only, or a placeholder."""
    return (
        _LOWER.fullmatch(value) is not None or _PLACEHOLDER.search(value) is not None or value[0] in "$%{<("
    )


_NAME = (
    r"(?:pass(?:word|wd|phrase)|passwort|contrase\u00f1a|mot de passe|pwd|secret|token|credentials?"
    r"|(?:api|access|auth|account|secret|signing|encryption|private|master)[_ -]?key)"
)
_LOGIN_NAME = (
    r"(?:pass(?:word|wd|phrase)|passwort|kennwort|contrase\u00f1a|mot de passe|senha|пароль|pwd"
    r"|密码|密碼|口令|パスワード|비밀번호"
    r"|pw(?<=\bpw)|pass(?:(?<=[_.-]pass)|(?<=\bpass)(?=[\"']|[ \t]{0,4}=)))"
)
SHORT_VALUE = r"(?P<value>[^\s\"'`<>,;]{6,256})"
VALUE = r"(?P<value>[^\s\"'`<>,;]{8,256})"

ASSIGNED = (
    Shape(
        "aws-secret-key",
        ("secret",),
        re.compile(
            r"(?:aws[\w .-]{0,20}secret|secret[_ -]?access[_ -]?key)[\w \"'`]{0,20}"
            r"[:=][ \"'`]{0,4}(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        is_one_word=False,
        any_case=True,
    ),
    Shape(
        "authorization",
        ("bearer", "authorization"),
        re.compile(
            r"(?:\bbearer[ \t]+|\bauthorization[\"']?[ \t]*[:=][ \t]*[\"']?(?:basic|token|apikey)[ \t]+)"
            r"(?P<value>[A-Za-z0-9_.~+/=-]{16,4096})"
        ),
        is_one_word=False,
        any_case=True,
        spares=is_placeholder,
    ),
    Shape(
        "url-password",
        ("://",),
        re.compile(r"://[^\s/:@\"'`<>?#]{0,64}:(?P<value>[^\s/:@\"'`<>?#]{3,128})@[A-Za-z0-9\[]"),
        is_one_word=False,
        spares=is_plain_word,
    ),
    Shape(
        "npmrc-token",
        ("_authtoken", "_password"),
        re.compile(r"(?::_(?:authtoken|password)[ \t]*=[ \t]*)(?P<value>[^\s\"'$]{16,512})"),
        is_one_word=False,
        any_case=True,
        spares=is_placeholder,
    ),
    Shape(
        "assigned-secret",
        ("pass", "pwd", "secret", "token", "credential", "key", "contrase"),
        re.compile(rf"(?:{_NAME})[\"'`*]{{0,4}}[ \t]{{0,4}}(?:=>|:=|[:=])[ \t]{{0,4}}[\"'`*]{{0,4}}{VALUE}"),
        is_one_word=False,
        any_case=True,
        spares=is_placeholder,
    ),
    Shape(
        "assigned-password",
        (
            *("pass", "pwd", "pw", "contrase", "kennwort", "senha", "парол"),
            *("密码", "密碼", "口令", "パスワード", "비밀번호"),
        ),
        re.compile(
            rf"{_LOGIN_NAME}[\"'`*]{{0,4}}[ \t]{{0,4}}(?:=>|:=|[:=\uff1a])[ \t]{{0,4}}[\"'`*]{{0,4}}"
            rf"{SHORT_VALUE}"
        ),
        is_one_word=False,
        any_case=True,
        spares=is_no_password,
    ),
)
"""Secrets that are known by what stands before them."""
