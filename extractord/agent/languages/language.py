"""What the embedded model knows of a language: signs of a statement, and signs against one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from importlib.resources import files

import msgspec
from msgspec import Struct

from extractord.core.folding import fold

LANGUAGES = ("ja", "zh", "en", "de", "fr", "es")
"""In the order in which a sentence is tried."""


_EVEN_IF_ASKED = ("unsaid", "what_ifs", "irony", "secrets", "commands")
_OF_A_PART = ("requests", "progress", "small_talk", "choices", "anybody", "behaviour")
_STEM_LETTERS = 5
_NOTHING = r"(?!)"
_APOSTROPHE = re.compile(r"(?<!\[)'(?=[a-z])")
_ANY_APOSTROPHE = "['\u2019]?"
"""People type `don't` as they like, most of them without it."""


class Kind(Enum):
    """What a sentence is, and so where its memory belongs."""

    LASTING = "lasting"
    """An instruction for all times: always, never, from now on."""
    WISH = "wish"
    """A preference of the person."""
    PERSON = "person"
    """Who the person is."""
    CUSTOM = "custom"
    """What is done in the project, or was decided for it."""
    PLACE = "place"
    """Where something outside the repository is."""
    DEADLINE = "deadline"
    """When something is due."""
    ENDED = "ended"
    """Something that no longer holds."""


class _Sign(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Kind
    any: tuple[str, ...]
    impersonal: bool = False
    corrects: bool = False


class _Expressions(Struct, frozen=True, forbid_unknown_fields=True):
    task: tuple[str, ...]
    scoped: tuple[str, ...]
    first_person: tuple[str, ...]
    negative: tuple[str, ...]
    lead: tuple[str, ...]
    asked: tuple[str, ...]
    asked_after: tuple[str, ...]
    refers_back: tuple[str, ...]
    passing: tuple[str, ...]
    lasting: tuple[str, ...]
    reasons: tuple[str, ...]
    how: tuple[str, ...]
    condition: tuple[str, ...]
    hands_over: tuple[str, ...]
    names_source: tuple[str, ...]
    topics: tuple[str, ...]
    clauses: tuple[str, ...]
    about_agent: tuple[str, ...]
    about_project: tuple[str, ...]
    changed: tuple[str, ...]
    contradicts: tuple[str, ...]
    announces: tuple[str, ...]
    polite: tuple[str, ...]
    opening: tuple[str, ...]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """A language's file: alternatives of expressions, in which `<name>` stands for words.

    `tags` are small words by what they mean in every language.
    """

    code: str
    script: str
    stop_words: str
    small_words: str
    words: Mapping[str, str]
    expressions: _Expressions
    signs: tuple[_Sign, ...]
    against: Mapping[str, tuple[str, ...]]
    tags: Mapping[str, str] = {}


class Sign(Struct, frozen=True):
    """What a statement of a kind looks like."""

    kind: Kind
    pattern: re.Pattern[str]
    impersonal: bool
    """Nobody is named whose rule it is, so that it may be a task's own condition."""
    corrects: bool
    """Plain words that are a statement only where they put something right."""


class Language(Struct, frozen=True, kw_only=True):
    """A language ready to be asked; sentences come without their end mark, case is ignored."""

    code: str
    script: re.Pattern[str]
    """A sentence of this language has some of these characters."""
    lead: re.Pattern[str]
    """Words before a statement that say nothing."""
    asked: tuple[re.Pattern[str], ...]
    """The sentence asks to remember its group `fact`."""
    asked_after: tuple[re.Pattern[str], ...]
    """The same, with the request behind the fact."""
    refers_back: re.Pattern[str]
    """The whole sentence asks to remember the one before it."""
    signs: tuple[Sign, ...]
    """Tried in order: the first that is found gives the kind."""
    task: re.Pattern[str]
    """The sentence sets a task: what else its entry says impersonally is part of that."""
    against: re.Pattern[str]
    """Questions, what-ifs, irony, hearsay, secrets: they speak against all of a sentence."""
    against_part: re.Pattern[str]
    """Requests, progress, small talk, choices: they speak against the part that they stand in."""
    against_asked: re.Pattern[str]
    """What speaks even against a sentence that asks to be remembered."""
    unsaid: re.Pattern[str]
    """The sentence asks not to remember it, or the one before it."""
    passing: re.Pattern[str]
    """Words that tie a sentence to the moment; a deadline may have them."""
    lasting: re.Pattern[str]
    """Phrases with such words that mean the contrary."""
    reasons: tuple[re.Pattern[str], ...]
    """A sentence as groups `fact` and `why`."""
    how: re.Pattern[str]
    """A clause at the end, group `how`, that says what to do with the fact."""
    condition: re.Pattern[str]
    """What stands before such a clause says only when or where, and is no fact by itself."""
    hands_over: re.Pattern[str]
    """The sentence hands over a text of somebody else's: it, and the rest of its entry."""
    names_source: re.Pattern[str]
    """The sentence says that what stands before it is somebody else's."""
    topics: re.Pattern[str]
    """What stands before a colon, and is no name."""
    clauses: re.Pattern[str]
    """Where a sentence can be split into several statements."""
    about_agent: re.Pattern[str]
    """Words for what an agent says and does to the person."""
    about_project: re.Pattern[str]
    """Words for a project's own things."""
    scoped: re.Pattern[str]
    """Words that bind a statement to this project."""
    first_person: re.Pattern[str]
    negative: re.Pattern[str]
    changed: re.Pattern[str]
    """Words that say that it was otherwise before."""
    contradicts: re.Pattern[str]
    """How a sentence begins that puts right what was said before."""
    announces: re.Pattern[str]
    """A line that announces statements, one a list item."""
    polite: re.Pattern[str]
    """How a question begins that is a request."""
    opening: re.Pattern[str]
    """What a name leaves out at its beginning."""
    stop_words: frozenset[str]
    """Stems of words that tell no fact from another."""
    small_words: frozenset[str]
    """Words that tell the language from others of its script."""
    tags: Mapping[str, str]
    """What words mean in any language."""


def load() -> tuple[Language, ...]:
    """Return every language, read from the files beside this one."""
    folder = files("extractord.agent.languages")
    return tuple(_language((folder / f"{code}.toml").read_bytes()) for code in LANGUAGES)


def _language(raw: bytes) -> Language:
    file = msgspec.toml.decode(raw, type=_File)
    words: dict[str, str] = {}

    def one(pattern: str) -> re.Pattern[str]:
        return re.compile(_APOSTROPHE.sub(_ANY_APOSTROPHE, _filled(pattern, words)), re.IGNORECASE)

    def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
        return one("|".join(patterns))

    for name, value in file.words.items():
        words[name] = _filled(value, words)
    parts = file.expressions
    return Language(
        code=file.code,
        script=one(file.script),
        lead=any_of(parts.lead),
        asked=tuple(map(one, parts.asked)),
        asked_after=tuple(map(one, parts.asked_after)),
        refers_back=any_of(parts.refers_back),
        signs=tuple(Sign(sign.kind, any_of(sign.any), sign.impersonal, sign.corrects) for sign in file.signs),
        task=any_of(parts.task),
        against=any_of(
            tuple(each for name, some in file.against.items() if name not in _OF_A_PART for each in some)
        ),
        against_part=any_of(tuple(each for name in _OF_A_PART for each in file.against.get(name, ()))),
        against_asked=any_of(
            tuple(pattern for name in _EVEN_IF_ASKED for pattern in file.against.get(name, ()))
        ),
        unsaid=any_of(file.against.get("unsaid", (_NOTHING,))),
        passing=any_of(parts.passing),
        lasting=any_of(parts.lasting),
        reasons=tuple(map(one, parts.reasons)),
        how=any_of(parts.how),
        condition=any_of(parts.condition),
        hands_over=any_of(parts.hands_over),
        names_source=any_of(parts.names_source),
        topics=any_of(parts.topics),
        clauses=any_of(parts.clauses),
        about_agent=any_of(parts.about_agent),
        about_project=any_of(parts.about_project),
        scoped=any_of(parts.scoped),
        first_person=any_of(parts.first_person),
        negative=any_of(parts.negative),
        changed=any_of(parts.changed),
        contradicts=any_of(parts.contradicts),
        announces=any_of(parts.announces),
        polite=any_of(parts.polite),
        opening=any_of(parts.opening),
        stop_words=frozenset(word[:_STEM_LETTERS] for word in fold(file.stop_words).split()),
        small_words=frozenset(file.small_words.split()),
        tags={word: f"#{tag}" for tag, same in file.tags.items() for word in same.split()},
    )


def _filled(pattern: str, words: Mapping[str, str]) -> str:
    """The pattern with each `<name>` replaced; group names `(?P<name>` stay."""
    return re.sub(r"(?<!\?P)<([a-z]+)>", lambda found: words.get(found[1], found[0]), pattern)
