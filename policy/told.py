"""Secrets that a sentence, a command line, a header or a file of logins tells."""

from __future__ import annotations

import re
from collections.abc import Callable

from extractord.policy.assigned import SHORT_VALUE, VALUE, is_no_password, is_placeholder, is_plain_word
from extractord.policy.credentials import Shape

_ASCII_VALUE = r"(?P<value>(?:(?![\"'`<>,;])[!-~]){6,256})"
_COOKIE = r"[^\s;=,\"'`<>]{1,80}=[^\s;,\"'`<>]{0,4096}"
_LONG_COOKIE = re.compile(r"=([^\s;]{12,})")
_ARGUMENTS = r"\b[^\n|;]{0,200}?[ \t]"
_SEED_WORD = r"(?:\d{1,2}[.):][ \t]{0,4})?[a-z]{3,8}"


def _told(
    rule: str, words: tuple[str, ...], pattern: str, spares: Callable[[str], bool] | None = None
) -> Shape:
    return Shape(rule, words, re.compile(pattern), is_one_word=False, any_case=True, spares=spares)


def _has_short_cookies(value: str) -> bool:
    """True for cookies such as `theme=dark`, of which none is long enough to be a login."""
    return all(is_placeholder(found) for found in _LONG_COOKIE.findall(value))


TOLD = (
    _told(
        "told-password",
        ("pass", "kennwort", "contrase", "senha"),
        r"(?:password|passphrase|passcode|passwort|kennwort|mot de passe|contrase[\u00f1n]a|senha)\b"
        r"[^\n.:=]{0,40}? (?:is|ist|was|war|to|est|lautet|hei\u00dft|heisst|es|\u00e9)"
        rf"[ \t]{{1,4}}[\"'`*]{{0,4}}{SHORT_VALUE}",
        is_no_password,
    ),
    _told(
        "told-password",
        ("密码", "密碼", "口令", "パスワード", "비밀번호", "парол"),
        r"(?:密码|密碼|口令|パスワード|비밀번호|парол[ья])[^\n。.:=]{0,20}?"
        rf"(?:是|为|為|は|이|은|는|\u2014|-)[、, ]{{0,2}}[\"'`*「『“]{{0,4}}{_ASCII_VALUE}",
        is_no_password,
    ),
    _told(
        "told-login",
        ("login", "credential", "creds", "zugangsdaten", "identifiants", "credenciales"),
        r"(?:logins?|credentials?|creds|zugangsdaten|identifiants|credenciales)\b[^\n.:=]{0,40}?"
        r"(?:[ \t](?:is|are|ist|sind|sont|son)|:)[ \t]{1,4}[\"'`*]{0,4}[\w.@+-]{2,64}[\"'`*]{0,4}"
        rf"[ \t]{{0,4}}(?:/|:|\||,|and|with|und|et|y)[ \t]{{0,4}}[\"'`*]{{0,4}}{SHORT_VALUE}",
        is_no_password,
    ),
    _told(
        "command-password",
        ("curl ", "wget "),
        rf"(?:curl|wget){_ARGUMENTS}(?:-u|--user|--proxy-user)[ =]?[\"']?"
        r"[^\s:\"'`]{1,64}:(?P<value>[^\s\"'`<>]{3,128})",
        is_plain_word,
    ),
    Shape(
        "command-password",
        ("mysql", "mariadb"),
        re.compile(
            rf"(?:mysql|mariadb)(?:-?(?:dump|admin|check|import|show))?{_ARGUMENTS}-p[\"']?"
            r"(?P<value>[^\s\"'`<>,;]{4,128})"
        ),
        is_one_word=False,
        spares=is_plain_word,
    ),
    _told(
        "command-password",
        ("sshpass",),
        r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?(?P<value>[^\s\"'`<>]{3,128})",
        is_plain_word,
    ),
    _told(
        "command-password",
        ("--",),
        r"--(?<![\w-]--)(?:[a-z0-9]{1,20}-){0,3}(?:pass(?:word|wd|phrase|code)?|pwd)[ \t]{1,4}[\"'`]{0,2}"
        rf"{SHORT_VALUE}",
        is_no_password,
    ),
    _told(
        "command-token",
        ("--",),
        r"--(?<![\w-]--)(?:[a-z0-9]{1,20}-){0,3}(?:token|secret|credentials?|(?:api|access|auth|secret)-?key)"
        rf"[ \t]{{1,4}}[\"'`]{{0,2}}{VALUE}",
        is_placeholder,
    ),
    _told(
        "netrc-password",
        ("login",),
        rf"login\s{{1,80}}\S{{1,128}}\s{{1,80}}password\s{{1,80}}{SHORT_VALUE}",
        is_plain_word,
    ),
    _told(
        "cookie",
        ("cookie",),
        rf"cookie[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}[\"']?(?P<value>{_COOKIE}(?:;[ ]?{_COOKIE}){{0,20}})",
        _has_short_cookies,
    ),
    _told(
        "seed-phrase",
        ("phrase", "mnemonic", "seed words"),
        r"(?:(?:seed|recovery|backup|mnemonic|wallet)[ _-](?:phrase|words)|mnemonic)[\"'`*]{0,4}[ \t]{0,4}"
        rf"(?::|=| is)[\s\"'`*]{{0,8}}"
        rf"(?P<value>(?:{_SEED_WORD}[ \t\r\n,]{{1,8}}){{11,23}}{_SEED_WORD})(?![a-z])",
    ),
    _told(
        "ethereum-key",
        ("private key", "private_key", "privatekey"),
        r"private[ _]?key\b[^\n]{0,40}?(?P<value>0x[0-9a-f]{64})(?![0-9a-f])",
    ),
    _told(
        "ethereum-key",
        ("private key", "private_key", "privatekey"),
        r"(?P<value>0x[0-9a-f]{64})(?![0-9a-f])(?=[^\n]{0,40}private[ _]?key)",
    ),
    _told(
        "kubeconfig-key",
        ("client-key-data",),
        r"client-key-data[\"']?:[ \t]{0,4}[\"']?(?P<value>[a-z0-9+/]{40,8192}={0,2})",
    ),
    _told(
        "docker-login",
        ('"auth"', '"identitytoken"'),
        r"\"(?:auth|identitytoken)\"[ \t]{0,4}:[ \t]{0,4}\"(?P<value>[a-z0-9+/_.-]{16,4096}={0,2})\"",
        is_placeholder,
    ),
)
"""Rows as in `credentials`, read in lower case."""
