"""The rules about what a memory says; they see the whole text as it would be."""

from __future__ import annotations

import re
import unicodedata

from extractord.policy.cases import FILE, content, edit, memory, write
from extractord.policy.characters import IGNORABLE, named, shown
from extractord.policy.header import TYPES, read_header, split
from extractord.policy.rendered import as_rendered
from extractord.policy.requests import Edit
from extractord.policy.rules import Place, Question, Rule, count_matches, each_place, in_result
from extractord.policy.secret import find_secrets

_CONTROL = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]|\\r(?!\\n)"
)
_JOINERS = frozenset("\u200c\u200d")
_EMOJI_SELECTOR = "\ufe0f"
_JOINING_SCRIPTS = re.compile("[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af]")
_KEYCAP = "\u20e3"
_KEYCAPS = frozenset("0123456789#*")


def _match(question: Question) -> str | None:
    if not isinstance(question.request, Edit):
        return None
    request, ground = question.request, question.found(question.places[0])
    if not request.old:
        return "The text to replace is empty"
    if ground is None or ground.text is None:
        return "The memory's text cannot be read"
    found = count_matches(ground.text, request.old)
    return None if found == 1 else f"The text to replace stands {found} times in the memory"


def _size(question: Question) -> str | None:
    if question.result is None:
        return None
    size, most = len(question.result.encode(errors="replace")), question.law.file_bytes
    return f"The memory would have {size} bytes; at most {most}" if size > most else None


def _control(text: str) -> str | None:
    found = _CONTROL.search(text)
    return f"{named(found[0])} in line {_line(text, found.start())}" if found else None


def _invisible(text: str) -> str | None:
    if text.isascii():
        return None
    for found in IGNORABLE.finditer(text):
        if not _is_part_of_writing(text, found.start()):
            return f"{named(found[0])} in line {_line(text, found.start())}"
    return None


def _is_part_of_writing(text: str, at: int) -> bool:
    """True for what emoji, Arabic, Indic and Khmer writing need: selectors and joiners in their place."""
    char, before, after = text[at], text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    if char == _EMOJI_SELECTOR:
        return _is_emoji(before) or (before in _KEYCAPS and after == _KEYCAP)
    if char not in _JOINERS:
        return False
    if _JOINING_SCRIPTS.match(before):
        return not after.isalnum() or _JOINING_SCRIPTS.match(after) is not None
    return char == "\u200d" and (_is_emoji(before) or before == _EMOJI_SELECTOR) and _is_emoji(after)


def _is_emoji(char: str) -> bool:
    return char != "" and not char.isascii() and unicodedata.category(char) in {"So", "Sk", "Sm"}


def _secret(text: str) -> str | None:
    for hit in find_secrets(text):
        return f"Line {_line(text, hit.start)} holds a secret ({hit.rule})"
    plain = as_rendered(text)
    for hit in find_secrets(plain) if plain != text else ():
        return f"Without its escapes and marks the text holds a secret ({hit.rule})"
    return None


def _secret_name(place: Place, question: Question) -> str | None:
    if question.result is None:
        return None
    for hit in (*find_secrets(place.path), *find_secrets(place.below.replace("/", ""))):
        return f"The memory's name holds a secret ({hit.rule})"
    return None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _front_matter(question: Question) -> str | None:
    if question.result is None:
        return None
    parts = split(question.result)
    if parts is None:
        return "The memory does not begin with front matter between two lines `---`"
    size, most = len(parts[0].encode(errors="replace")), question.law.front_matter_bytes
    if size > most:
        return f"The front matter has {size} bytes; at most {most}"
    header = read_header(parts[0])
    if isinstance(header, str):
        return header
    missing = [key for key in ("name", "description", "type") if not getattr(header, key)]
    if missing:
        return f"The front matter has no {' and no '.join(missing)}"
    return None if header.type in TYPES else f"The type {shown(header.type)} is none of {', '.join(TYPES)}"


_AWS_KEY = "AKIA" + "Q3ZZ7PWN5MXR4TUV"
_GITHUB_TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

CONTENT_RULES = (
    Rule(
        name="match",
        threat="an edit that lands elsewhere than meant",
        sentence="Read the memory and give a stretch of it that stands there exactly once.",
        find=_match,
        allows=(edit("Edit, one match", memory(), "Tuesdays", "Thursdays"),),
        denies=(
            edit("Edit, no match", memory(), "Fridays", "Thursdays"),
            edit("Edit, two matches", memory("one a two a three"), " a ", " b "),
            edit("Edit, overlapping matches", memory("a zzz"), "zz", "y"),
            edit("Edit of nothing", memory(), "", "x"),
            edit("Edit of an unreadable memory", None, "a", "b"),
        ),
    ),
    Rule(
        name="size",
        threat="memories that fill the window of every later session",
        sentence="Split it: one fact a memory.",
        find=_size,
        allows=(content("60 KiB", memory("n" * 60 * 1024)),),
        denies=(
            content("65 KiB", memory("n" * 65 * 1024)),
            edit("Edit that passes 64 KiB", memory("n" * 64000 + "!"), "!", "n" * 2000),
        ),
    ),
    Rule(
        name="control",
        threat="characters that terminals obey and parsers read differently",
        sentence="Write it in plain text.",
        find=in_result(_control),
        allows=(content("tabs and Windows line ends", memory("a\tb\r\nc")),),
        denies=(
            content("an escape sequence", memory("\x1b[31mred")),
            content("NUL", memory("a\x00b")),
            content("a lone CR", memory("a\rb")),
            content("U+0085", memory("a\x85b")),
            content("U+2028", memory("a\u2028b")),
            content("a lone surrogate", memory("a\udc80b")),
        ),
    ),
    Rule(
        name="invisible",
        threat="instructions and secrets that a person does not see",
        sentence="Write it without invisible characters.",
        find=in_result(_invisible),
        allows=(
            content("emoji", memory("\u2764\ufe0f 1\ufe0f\u20e3 \U0001f468\u200d\U0001f469\u200d\U0001f467")),
            content("Persian", memory("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")),
        ),
        denies=(
            content("U+200B", memory("a\u200bb")),
            content("U+202E", memory("a\u202eb")),
            content("tag characters", memory("a\U000e0041")),
            content("U+200D between letters", memory("a\u200db")),
            content("U+FE0F after a letter", memory("a\ufe0f")),
            content("a YAML escape that comes to U+200B", memory(head='a: "x\\u200by"\n')),
            content("U+FEFF at the start", "\ufeff" + memory()),
        ),
    ),
    Rule(
        name="secret",
        threat="credentials that go from a session into files, prompts and backups",
        sentence="Write [REDACTED] in its place, or where it is kept.",
        find=in_result(_secret),
        allows=(
            content("the name of a key", memory("Set `VITE_FIREBASE_API_KEY` in `.env`.")),
            content(
                "a digest", memory("3f786850e387550fdab836ed7e6dc881de23001b, sha256-" + "q8Zr" * 10 + "abc=")
            ),
            content("a reference", memory("token: ${{ secrets.DEPLOY_TOKEN_2 }}\npassword=$DB_PASSWORD1")),
        ),
        denies=(
            content("an AWS key", memory(f"key {_AWS_KEY}")),
            content("a token with U+00AD inside", memory(f"{_GITHUB_TOKEN[:9]}\u00ad{_GITHUB_TOKEN[9:]}")),
            content("a token over two lines", memory(f"{_GITHUB_TOKEN[:19]}\n{_GITHUB_TOKEN[19:]}")),
            content("a token in full-width letters", memory(_GITHUB_TOKEN.replace("C7", "\uff23\uff17"))),
            content("`password is …`", memory("The password is hunter2xyz.")),
            content("a password without a digit", memory("password: open!sesame")),
            content("a token with Markdown's escapes", memory(_GITHUB_TOKEN.replace("_", "\\_"))),
            content("a token spelt out", memory(" ".join(_GITHUB_TOKEN))),
            content("a token over two items", memory(f"- {_GITHUB_TOKEN[:19]}\n- {_GITHUB_TOKEN[19:]}")),
            content("a token with a tag inside", memory(f"{_GITHUB_TOKEN[:19]}<br>{_GITHUB_TOKEN[19:]}")),
            content("a token with a Cyrillic letter", memory(_GITHUB_TOKEN.replace("p", "\u0440"))),
            content("`curl -u …`", memory("`curl -u admin:Tr0ub4dor https://x.example`")),
            content("a cookie", memory(f"Cookie: session={_GITHUB_TOKEN[4:]}")),
            content("a word drawn at random", memory("q8ZrT3vLx0WbN7sKd2YhPf5GmJ9cRu4E" + "aXo1iQ6tVw")),
            content("a key with an entity in it", memory(_AWS_KEY.replace("Q", "&#81;"))),
            content("a key half in bold", memory(f"**{_AWS_KEY[:9]}**{_AWS_KEY[9:]}")),
            content(
                "a secret in the description",
                memory(head=f"source_url: https://x:{_GITHUB_TOKEN}@x.example\n"),
            ),
            content("YAML escapes that come to one", memory(head=f'a: "\\x41{_AWS_KEY[1:]}"\n')),
        ),
    ),
    Rule(
        name="secret-name",
        threat="credentials in file names",
        sentence="Name the memory after its fact.",
        find=each_place(_secret_name),
        allows=(write("api-key-rotation.md"),),
        denies=(write(f"{_AWS_KEY}.md"), write(f"{_AWS_KEY[:9]}/{_AWS_KEY[9:]}.md")),
    ),
    Rule(
        name="front-matter",
        threat="memories that two readers read differently, and YAML that builds more than text",
        sentence="Begin with `---`, name, description, metadata with type, `---`, all plain text.",
        find=_front_matter,
        allows=(
            content("a whole memory", memory()),
            content("a bare top-level type", "---\nname: a\ndescription: b\ntype: user\n---\nx\n"),
            content("unknown keys", memory(head="tags: [a, b]\n")),
        ),
        denies=(
            content("no front matter", "Deploys happen on Tuesdays.\n"),
            content("no description", "---\nname: a\ntype: project\n---\nx\n"),
            content("an unknown type", memory(type_="rules")),
            content("an anchor and an alias", memory(head="a: &x 1\nb: *x\n")),
            content("a tag", memory(head="a: !!python/name:os.system\n")),
            content("one key twice", memory(head="name: other\n")),
            content("no YAML", memory(head="a: [\n")),
            content("an impossible date", memory(head="day: 2026-13-45\n")),
            content("5 KiB of it", memory(head=f"a: {'n' * 5000}\n")),
            content("a second fence that some readers see first", memory(head="----\n")),
            content("a fence before U+00A0", memory(head='a: "b\n---\u00a0\nc"\n')),
            content("a merge key", memory(head="a: {<<: {b: c}}\n")),
            content("two types", memory(head="type: user\n")),
            content("nesting", memory(head="a: [[[[[[[[[[[[]]]]]]]]]]]]\n")),
            write("notes.md", "", FILE),
        ),
    ),
)
