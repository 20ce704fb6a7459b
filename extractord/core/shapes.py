"""What a line of a prompt is by its shape: of a log, a shell, a chat, a mail, a review."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from itertools import takewhile

LOG_LINE = re.compile(
    r"""\s*+(?:
      (?P<stamped>
        \[?\d{4}[-/]\d\d[-/]\d\d[T\ ]\d\d:\d\d            # a time stamp
      | \[?\d\d:\d\d:\d\d
      | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ [\ \d]\d\ \d\d:\d\d:\d\d
      | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[:\ |]\s*\S
      )
    | (?:npm|yarn|pnpm)\ (?:ERR!|WARN|error|warn)
    | at\ (?=.{3,1000}$).+[(:]\S{0,200}:\d+\)?\s*$                          # JavaScript, Java
    | File\ ".+",\ line\ \d+
    | (?:\#\d+|\d+:)\s+0x[0-9a-f]+
    | (?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Panic)(?::|$)
    | (?:Caused\ by|thread\ '.*'\ panicked|panic):?\s
    | goroutine\ \d+\ \[
    | \S+\.\w+:\d+(?::\d+)?:\s                          # a compiler
    | (?:[^\s@]{1,64}@[^\s@]{1,64}[:\ ]\S{0,200})?[$%#]\ \S                     # a shell
    | (?:PASS|FAIL|ok)\s+\S+[./]\S+\s*
    | (?=[|~^\s]*+$).*[~^]{2}\s*$                       # what a compiler points with
    )""",
    re.VERBOSE,
)
TRACE_HEAD = re.compile(r"\s*+(?:Traceback \(most recent call last\)|Exception in thread|goroutine \d+ \[)")
_AT_SHELL = re.compile(
    r"""\s*+(?:\([\w.-]{1,40}\)\s)?(?:
          [^\s@]{1,64}@[^\s@]{1,64}[:\ ]\S{0,200}\s?[$%#]
        | [~/][\w./~-]{0,200}\s?[$%\u276f]
        | \u279c\s+\S{1,200}(?:\ git:\(\S{1,200}\))?(?:\ \u2717)?
        | [$\u276f\u279c]
        | (?:PS\ )?[A-Z]:\\[^>\n]{0,200}>)
      (?:\s+(?P<command>\S.*)?|$)""",
    re.VERBOSE,
)
_PRINTS = re.compile(
    r"(?:sudo )?(?:cat|less|more|head|tail|bat|type|get-content|gc|curl|wget|man|glow|mdcat|pandoc|jq|yq"
    r"|strings|grep|rg|ag|ack|sed|awk|diff|fortune|tldr|pbpaste|xclip|xsel|gh|glab"
    r"|git (?:log|show|diff|blame|notes))\b"
    r"|.*\s(?:--?help|-h)\b",
    re.IGNORECASE,
)
"""A command whose output is somebody's text, blank lines and all."""

_MAY_HEAD = (":", "\uff1a", "<", "---", "comment", "changes", "reviewed", "replied", "opened")
"""What a line of a chat, a mail or a review has at least one of."""
_TIME = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_NAME = r"[^\W\d_][\w.'\u2019-]{0,30}"
_STAMP = rf"[\[(][^\[\]()\n]{{0,40}}?{_TIME}[^\[\]()\n]{{0,12}}[\])]"
_ELEMENTS = (
    "a abbr article aside audio b base blockquote body br button canvas caption code col details dialog div "
    "dl dt em fieldset figure footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input label li "
    "legend link main meta nav ol option p picture pre script section select slot small source span strong "
    "style sub summary sup svg table tbody td template textarea tfoot th thead title tr u ul video"
).replace(" ", "|")
_IRC = re.compile(
    rf"\s*+(?:{_STAMP}\s*|{_TIME}\s+)?<(?!(?:{_ELEMENTS})>)[@+%~&]?[\w\[\]`^{{}}|\\.-]{{1,24}}>\s+\S",
    re.IGNORECASE,
)
"""A message to a line, as IRC clients write them."""
_CHAT = re.compile(
    rf"""\s*+(?:
      {_STAMP}(?=\s|$)                                  # [10:42] Bob: …
    | {_NAME}(?:\ [\w.()'\u2019-]{{1,30}}){{0,3}}\s{{0,3}}{_STAMP}\s?[:\uff1a]        # Bob [10:42 AM]: …
    | @[\w.-]{{1,39}}[:\uff1a]\s
    | {_TIME}\s+(?:[-\u2013]\s)?{_NAME}(?:\ {_NAME})?[:\uff1a]\s           # 12:01 mike: …
    )""",
    re.VERBOSE,
)
_DAY = (
    r"(?:(?:(?i:today|yesterday|heute|gestern|hier|aujourd'hui|ayer|hoy)|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
    r"|[A-Z][a-z]{2,8},?\ \d{1,2}(?:st|nd|rd|th)?)(?:,|\ (?:at|um|\u00e0|a\ las))?\s)"
)
_NO_DATE = "".join(
    rf"(?<!\s{word})"
    for word in (
        *("on", "at", "by", "from", "until", "till", "since", "before", "after", "is", "was"),
        *("am", "um", "ab", "bis", "seit", "vor", "nach", "le", "el", "du", "au", "del", "al"),
    )
)
"""A sentence that ends with a date has one of these before it; a name has none."""
_NAMED = r"[^\W\d_a-z][\w.'\u2019-]{0,30}"
_CHAT_HEAD = re.compile(
    rf"""\s*+(?:
      (?:{_NAME}(?:\ [\w.()/'\u2019-]{{1,30}}){{0,3}}
         (?:\s\s+|\s+[\u2014\u2013|\u2022\u00b7-]\s*))?{_DAY}?{_TIME}
    | {_NAME}(?:\ [\w.()/'\u2019-]{{1,30}}){{0,3}}{_NO_DATE}\s+{_DAY}{_TIME}
    | {_NAMED}(?:\ {_NAMED}){{1,3}}\s+{_TIME}
    | {_NAMED}\s+\d{{1,2}}:\d\d\s?[AaPp][Mm]
    | {_NAME}(?:\ [\w.()/'\u2019-]{{1,30}}){{0,3}}\s+{_STAMP}
    )\s*$""",
    re.VERBOSE,
)
"""Who said it when, above the message."""
LABEL = re.compile(
    r"""rules?|notes?|todo|fixme|hint|tip|warning|important|reminder|decision|conventions?|goal|context|background
    |constraints?|requirements?|also|first|second|third|then|finally|example|frontend|backend|apis?|ui|cli|web
    |mobile|infra|database|db|tests?|docs|style|naming|branch(?:es)?|commits?|code|formatting|linting|deploys?
    |releases?|reviews?|security|performance|languages?|python|go|rust|java|javascript|typescript|css|html|sql
    |type|scope|name|role|title|status|step|task
    |regeln?|hinweis|wichtig|aufgabe|ziel|beispiel|r\u00e8gles?|remarque|reglas?|nota""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands before a colon, and is nobody who speaks."""
LABELLED = re.compile(rf"\s*+(?P<who>{_NAME}(?: {_NAME}){{0,2}})[:\uff1a]\s+\S")
_AGO = r"(?:\ (?:\d+|an?)\ \w+\ ago|\ (?:yesterday|last\ \w+)|\ on\ (?:[A-Z]\w{2,8}\ )?\d[^.!?]{0,50})"
_REVIEW = re.compile(
    rf"""\s*+@?[\w.'-]{{1,39}}(?:\ [\w.'\[\]()-]{{1,39}}){{0,3}}\ (?:
        (?:left\ a\ (?:review\ )?comment|requested\ changes|approved\ these\ changes){_AGO}?
      | (?:commented|suggested\ changes)(?:{_AGO}|\ on\ (?:this|the|line)\b[^.!?]{{0,50}}|(?=:))
      | (?:reviewed|replied)(?:{_AGO}|(?=:))
      | opened\ this\ (?:issue|pull\ request|merge\ request){_AGO}?
      )(?:\s*[\u00b7\u2022(].{{0,40}})?\s*:?\s*$""",
    re.VERBOSE,
)
_MAIL = re.compile(
    r"""\s*+(?:-{3,}\s*(?:original\ (?:message|appointment)|forwarded\ (?:message|by\b.{0,80})
        |urspr\u00fcngliche\ nachricht|(?:weitergeleitete|original)[ -]?nachricht
        |message\ (?:d'origine|transf\u00e9r\u00e9|original)|mensaje\ (?:original|reenviado)
        |\u539f\u59cb\u90ae\u4ef6|\u8f6c\u53d1(?:\u7684)?\u90ae\u4ef6
        |\u5143\u306e\u30e1\u30c3\u30bb\u30fc\u30b8)\s*-{3,}
      |begin\ forwarded\ message:
      |anfang\ der\ weitergeleiteten\ (?:nachricht|e-mail):
      |d\u00e9but\ du\ message\ (?:r\u00e9exp\u00e9di\u00e9|transf\u00e9r\u00e9)\s?:
      |inicio\ del\ mensaje\ reenviado:)\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
_FROM = re.compile(
    r"\s*\**(?:from|von|de|\u53d1\u4ef6\u4eba|\u5bc4\u4ef6\u8005|\u5dee\u51fa\u4eba)\**\s?[:\uff1a]\s*\S",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"\s*\**(?:to|cc|date|sent|subject|reply-to"
    r"|an|datum|gesendet|betreff|\u00e0|envoy\u00e9|objet|para|fecha|enviado|asunto"
    r"|\u6536\u4ef6\u4eba|\u4e3b\u9898|\u4e3b\u65e8|\u65e5\u671f|\u65f6\u95f4|\u4ef6\u540d"
    r"|\u5b9b\u5148|\u65e5\u6642)\**\s?[:\uff1a]",
    re.IGNORECASE,
)
_FIELDS_WITHIN = 4
_WROTE = re.compile(
    r"\s*+(?:(?:on|am|le|el|op|il)\s.{2,160}\b"
    r"(?:wrote|schrieb\b.{0,80}|a \u00e9crit|escribi\u00f3|schreef|ha scritto)\s?:"
    r"|.{3,120}(?:\u5199\u9053|\u5beb\u9053|\u66f8\u304d\u307e\u3057\u305f|\u306e\u30e1\u30fc\u30eb)\s?[:\uff1a])\s*$",
    re.IGNORECASE,
)
_LONGEST_HEAD = 240
"""A longer line heads nothing."""


class Shape(Enum):
    """What a line is, and how far what it begins goes."""

    PLAIN = auto()
    """Nobody else's, by its shape."""
    LINE = auto()
    """A message of its own, and what stands between two of them in a block."""
    BLOCK = auto()
    """It and what follows, up to a blank line or the block of the last one of the kind."""
    COMMAND = auto()
    """Typed at a shell; its output follows, up to a blank line."""
    PRINT = auto()
    """The same, of a text: up to a prompt without a command, or the end."""
    PROMPT = auto()
    """A shell's prompt, and nothing typed: it ends an output."""
    WROTE = auto()
    """Who wrote what follows: the paste below, else up to the end."""
    END = auto()
    """It and all that follows."""


def shape_of(lines: Sequence[str], at: int) -> Shape:
    """Given a prompt's lines, return what the one at that place is."""
    line = lines[at]
    typed = _AT_SHELL.match(line)
    if typed:
        command = typed["command"] or ""
        return Shape.PRINT if _PRINTS.match(command) else Shape.COMMAND if command else Shape.PROMPT
    if not any(sign in line for sign in _MAY_HEAD):
        return Shape.PLAIN
    if _IRC.match(line):
        return Shape.LINE
    if len(line) <= _LONGEST_HEAD and (heads := _heading(lines, at)):
        return heads
    return Shape.BLOCK if _CHAT.match(line) and not LOG_LINE.match(line) else Shape.PLAIN


def _heading(lines: Sequence[str], at: int) -> Shape | None:
    line = lines[at]
    fields = takewhile(str.strip, lines[at + 1 : at + 1 + _FIELDS_WITHIN])
    if _MAIL.match(line) or _REVIEW.match(line) or (_FROM.match(line) and any(map(_FIELD.match, fields))):
        return Shape.END
    if _WROTE.match(line):
        return Shape.WROTE
    return Shape.BLOCK if _CHAT_HEAD.match(line) and not LOG_LINE.match(line) else None
