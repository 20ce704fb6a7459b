"""The rules about links: what opens, loads or runs something where a memory is rendered or read in."""

from __future__ import annotations

import html
import re

from extractord.policy.cases import content, memory
from extractord.policy.characters import shown
from extractord.policy.rendered import as_rendered
from extractord.policy.rules import Rule, in_result
from extractord.policy.secret import fold
from extractord.policy.verdict import Hold

_GAP = "[\\x00-\\x20]{0,4}"
_SCRIPT_LINK = re.compile(
    _GAP.join("javascript") + _GAP + ":(?=\\S)|" + _GAP.join("vbscript") + _GAP + ":(?=\\S)"
    r"|(?:\]\s?\(|\]:|<|=)[\s\"'<]{0,8}(?:java|vb)script\s{0,4}:"
)
_PROGRAM_LINK = re.compile(
    r"(?:\]\s?\(|\]:|<|\b(?:href|src)\s?=)[\s\"'<]{0,8}"
    r"(?:command|vscode(?:-insiders)?|vscodium|cursor|windsurf|jetbrains|idea|zed|ms-[a-z-]{1,30}|search-ms|shell)"
    r":(?=\S)"
)
_KNOWN_SCHEMES = "https?|mailto|tel|ftps?|sftp|ssh|git|file:///(?!/)"
_UNKNOWN_LINK = re.compile(
    rf"(?:\]\s?\(\s{{0,4}}<?|^ {{0,3}}\[[^\]\n]{{1,300}}\]:\s{{0,4}}<?)(?!(?:{_KNOWN_SCHEMES}))"
    r"[a-z][a-z0-9+.-]{1,40}:(?=[^\s)])"
    rf"|<(?!(?:{_KNOWN_SCHEMES}))[a-z][a-z0-9+.-]{{1,40}}://"
    r"|(?:\]\s?\(|^ {0,3}\[[^\]\n]{1,300}\]:)\s{0,4}<?(?://|\\\\)",
    re.MULTILINE,
)
_IMPORT = re.compile(r"(?:^|[\s(\"'])@(?:~?/|\.{1,2}/)[^\s]", re.MULTILINE)
_INLINE_LINK = re.compile(
    r"\bdata:[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80}[;,]|\bdata:(?:;base64)?,(?=\S)|\][ \t]?\([ \t]{0,4}<?data:"
)
_ALT = r"!\[(?:[^\[\]\n]|\n(?!\s{0,8}\n)|\[(?:[^\[\]\n]|\[[^\[\]\n]{0,60}\]){0,100}\]){0,300}\]"
"""An image as far as its place; brackets in pairs and a line's end are its words."""
_REMOTE_IMAGE = re.compile(
    rf"{_ALT}\s?\(\s{{0,4}}<?(?:https?:)?(?://|\\\\)"
    r"|<(?:img|image|iframe|frame|video|audio|source|track|embed|object|script|link|input|base|use|body|form"
    r"|meta|table|td)\b[^<>]{0,300}\b(?:src|srcset|href|data|poster|background|action|content)\s{0,4}="
    r"|@import\s{0,4}(?:url\s?\()?\s{0,4}[\"']?(?:https?:)?//|\burl\(\s{0,4}[\"']?(?:https?:)?//"
    r"|<[a-z][^<>]{0,300}\b(?:style\s{0,4}=[^<>]{0,300}url\s{0,4}\(|on[a-z]{3,20}\s{0,4}=)",
    re.IGNORECASE,
)
_IMAGE_BY_NAME = re.compile(_ALT)
_REMOTE_NAME = re.compile(
    r"^ {0,3}\[[^\]\n]{1,300}\]:\s{0,4}<?(?:https?:)?(?://|\\\\)", re.MULTILINE | re.IGNORECASE
)


def _link(text: str) -> str | None:
    plain = fold(text)
    for seen in (html.unescape(plain).lower(), as_rendered(plain).lower()):
        if _SCRIPT_LINK.search(seen):
            return "The text holds a `javascript:` or `vbscript:` link"
        if _PROGRAM_LINK.search(seen):
            return "The text holds a link that starts a program"
        if _INLINE_LINK.search(seen):
            return "The text holds a `data:` link"
    return None


def _other_link(text: str) -> str | None:
    plain = fold(text)
    for seen in (html.unescape(plain).lower(), as_rendered(plain).lower()):
        found = _UNKNOWN_LINK.search(seen)
        if found:
            return f"{shown(found[0].strip())} opens whatever program took that kind of link"
        found = _IMPORT.search(seen)
        if found:
            return f"{shown(found[0].strip())} makes some agents read that file in"
    return None


def _image(text: str) -> str | None:
    seen = html.unescape(fold(text))
    if _REMOTE_IMAGE.search(seen) or (_IMAGE_BY_NAME.search(seen) and _REMOTE_NAME.search(seen)):
        return "The text loads an image, a frame or a script from elsewhere, or runs one"
    return None


LINK_RULES = (
    Rule(
        name="active-link",
        threat="links that carry or run something where the memory is rendered",
        sentence="Leave the link out, or name the page.",
        find=in_result(_link),
        allows=(
            content("a link to a page", memory("See [the wiki](https://wiki.example/x).")),
            content(
                "the words `command: make`",
                memory("The command: `make check`, in vscode: F5. See [a](command-list.md)."),
            ),
            content("the words `data: the table`", memory("Three columns of data: the table has them.")),
        ),
        denies=(
            content("`](javascript:…)`", memory("[x](javascript:alert(1))")),
            content("`javascript:` with a tab and an entity", memory("[x](java\tscrip&#116;:alert(1))")),
            content("`](<javascript: …>)`", memory("[x](<javascript: alert(1)>)")),
            content("`](data:text/html;…)`", memory("[x](data:text/html;base64,PGI+)")),
            content("`](javascript\\\\:…)`", memory("[x](javascript\\:alert(1))")),
            content("`](javascript%3A…)`", memory("[x](javascript%3Aalert(1))")),
            content("`](command:…)`", memory("[x](command:workbench.action.terminal.new)")),
            content("`](vscode:…)`", memory("[x](vscode://x/y)")),
        ),
    ),
    Rule(
        name="other-link",
        threat="links that start some program, and paths that an agent reads in as instructions",
        sentence="A person will look at it; name the place in words.",
        find=in_result(_other_link),
        gives=Hold,
        allows=(
            content(
                "links to pages, mail and files",
                memory(
                    "[a](https://x.example), [b](mailto:a@x.example), [c](file:///srv/a.md), <ssh://git@x.example>"
                ),
            ),
            content("a package and a person", memory("Use `@scope/package`; ask @anna, cc @team/ops.")),
            content("a link to a heading", memory("See [c](notes.md#a:b), and <xs:element>.")),
        ),
        holds=(
            content("`](obsidian:…)`", memory("[x](obsidian://open?vault=a)")),
            content("`](file://host/…)`", memory("[x](file://evil.example/share)")),
            content("`](file:////host/…)`", memory("[x](file:////evil.example/share)")),
            content("`](\\\\\\\\host\\…)`", memory("[x](\\\\\\\\evil.example\\share)")),
            content("`](//host/…)`", memory("[x](//evil.example/share)")),
            content("`[x]: slack:…`", memory("[x][y]\n\n[y]: slack://open")),
            content("`@~/…`", memory("See @~/.ssh/config")),
            content("`@../…`", memory("@../other/notes.md")),
        ),
    ),
    Rule(
        name="remote-image",
        threat="an image, frame or script whose address carries what was remembered to somebody else",
        sentence="A person will look at it; name the page instead of loading it.",
        find=in_result(_image),
        gives=Hold,
        allows=(
            content("an image of the project", memory("![plan](docs/plan.png)")),
            content(
                "an image of the project before a link",
                memory("![plan](docs/plan.png) of [the wiki](https://wiki.example/)"),
            ),
            content("a type in angle brackets", memory("Return `Vec<String>`, and `<b>` for bold.")),
            content("a link by its name", memory("See [the wiki][w].\n\n[w]: https://wiki.example/")),
        ),
        holds=(
            content("`![](https://…)`", memory("![x](https://evil.example/a.png)")),
            content("`<img src=…>`", memory("<img src='//evil.example/a.png'>")),
            content("an image by its name", memory("![x][y]\n\n[y]: https://evil.example/a.png")),
            content("an image with brackets in its words", memory("![a[b]c](https://evil.example/a.png)")),
            content(
                "an image whose words end on the next line", memory("![a\n](https://evil.example/a.png)")
            ),
            content("an image behind an entity", memory("![x](&#104;ttps://evil.example/a.png)")),
            content("`<iframe src=…>`", memory("<iframe src='https://evil.example/'></iframe>")),
            content("`<p style=…url(…)>`", memory('<p style="background:url(//evil.example)">x</p>')),
            content("`@import url(//…)`", memory("<style>@import url(//evil.example)</style>")),
            content("`<p onclick=…>`", memory("<p onclick=alert(1)>x</p>")),
        ),
    ),
)
