"""The first messages of a run: drafted from a window, redacted elsewhere, cut to its budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import MAXYEAR, datetime, tzinfo

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from extractord.core.manifest import Remembered, listing, newest
from extractord.core.merging import whole
from extractord.core.prompting import Prompt
from extractord.core.prose import Span
from extractord.core.quotes import gap
from extractord.core.records import Brief, Entry, Message, Origin, Shown, Tool, Window
from extractord.core.redact import marks_for
from extractord.core.redact import replace as put
from extractord.core.tiers import Excerpt, excerpts, fitted, spoken
from extractord.core.tokens import estimate_tokens
from extractord.policy.secret import Hit

_LABEL = re.compile(r"^[ \t]*\[e\d{1,9} ", re.MULTILINE)
"""Nothing that is shown may look like a label."""
_UNSAFE = re.compile(r"[^\w.:/-]")
"""A session's id comes from its transcript, and stands outside the fence."""
_SESSION_CHARACTERS = 80
_TICKS = re.compile("`{3,}")
_MARGIN_TOKENS = 64
"""For fences, separators and what a provider adds to a message."""
_MANIFEST_SHARE = 4
"""At most one in so many tokens goes to the manifest."""


class Draft(Struct, frozen=True, kw_only=True):
    """What a brief is made of before it is redacted: four times too much; never leaves the machine."""

    agent: str
    session: str
    excerpts: tuple[Excerpt, ...]
    entries: int
    """All of the window that could have been shown."""
    memories: tuple[Remembered, ...]
    existing: int
    """Memories that there are in both roots."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text to be searched for secrets, in the order that `compose` wants the hits."""
        return (
            *(excerpt.entry.text for excerpt in self.excerpts),
            *(memory.text for memory in self.memories),
            *(memory.row.description for memory in self.memories),
        )


def draft(window: Window, memories: Sequence[Remembered], tokens: int) -> Draft:
    """Given a window, both roots' memories and the brief's budget, return what to redact."""
    window = replace(window, exchanges=tuple(map(whole, window.exchanges)))
    return Draft(
        agent=window.agent,
        session=window.session,
        excerpts=excerpts(window, tokens),
        entries=sum(1 for _ in spoken(window)),
        memories=newest(memories),
        existing=len(memories),
    )


def compose(
    drafted: Draft,
    hits: Sequence[Sequence[Hit]],
    *,
    system: str,
    tools: Sequence[Tool],
    prompts: Mapping[str, Prompt],
    tokens: int,
    now: datetime,
) -> Brief:
    """Given a draft, the secrets in its texts and a budget, return the brief.

    `now` is aware, in the person's zone: the brief says its day, and entries' times in its zone,
    so that relative dates can be counted. The budget is for all of it, tools included; where the
    provider finds it too long, the same draft is composed with half. Raise ValueError where the
    hits are not those of the draft's texts.
    """
    excerpted, memories = _redacted(drafted, hits)
    fixed = estimate_tokens(system) + estimate_tokens(msgspec.json.encode(tools).decode()) + _MARGIN_TOKENS
    fixed += sum(estimate_tokens(prompt.text) for prompt in prompts.values())
    room = max(tokens - fixed, 0)
    manifest, listed = listing(memories, room // _MANIFEST_SHARE, now.tzinfo)
    chosen = fitted(excerpted, room - estimate_tokens(manifest))
    shown = tuple(_shown(excerpt, now.tzinfo) for excerpt in chosen)
    parts = []
    if listed:
        parts.append(
            prompts["manifest"].render(
                shown=str(listed), total=str(drafted.existing), fence=fence(manifest), memories=manifest
            )
        )
    window = _rendered(shown, chosen, drafted.entries, now.tzinfo)
    parts.append(
        prompts["extract"].render(
            today=f"{now:%A, %Y-%m-%d}",
            agent=drafted.agent,
            session=_UNSAFE.sub("?", drafted.session)[:_SESSION_CHARACTERS],
            fence=fence(window),
            window=window,
        )
    )
    messages = (Message(role="system", content=system), Message(role="user", content="\n\n".join(parts)))
    return Brief(
        messages=messages,
        shown=shown,
        session=drafted.session,
        agent=drafted.agent,
        tokens=_MARGIN_TOKENS
        + sum(estimate_tokens(message.content) for message in messages)
        + estimate_tokens(msgspec.json.encode(tools).decode()),
    )


def _redacted(
    drafted: Draft, hits: Sequence[Sequence[Hit]]
) -> tuple[tuple[Excerpt, ...], tuple[Remembered, ...]]:
    count, known = len(drafted.excerpts), len(drafted.memories)
    if len(hits) != count + 2 * known:
        raise ValueError(f"{len(hits)} texts were searched, not {count + 2 * known}")
    excerpted = tuple(
        replace(excerpt, entry=_clean(excerpt.entry, found))
        for excerpt, found in zip(drafted.excerpts, hits[:count], strict=True)
    )
    memories = tuple(
        replace(
            memory,
            text=_unlabelled(put(memory.text, marks_for(of_text))[0])[0],
            row=replace(memory.row, description=put(memory.row.description, marks_for(of_description))[0]),
        )
        for memory, of_text, of_description in zip(
            drafted.memories, hits[count : count + known], hits[count + known :], strict=True
        )
    )
    return excerpted, memories


def _clean(entry: Entry, found: Iterable[Hit]) -> Entry:
    """The entry without secrets, and without lines that look like a label of ours."""
    text, pastes = put(entry.text, marks_for(found), entry.pastes)
    text, pastes = _unlabelled(text, pastes)
    return replace(entry, text=text, pastes=pastes)


def _unlabelled(text: str, spans: Iterable[Span] = ()) -> tuple[str, tuple[Span, ...]]:
    return put(text, [(*match.span(), f"{gap('a label')} ") for match in _LABEL.finditer(text)], spans)


def _shown(excerpt: Excerpt, zone: tzinfo | None) -> Shown:
    entry = excerpt.entry
    return Shown(
        label=f"e{excerpt.order}",
        entry=replace(entry, calls=()),
        text=entry.text,
        said_on=_local(entry.time, zone).date() if entry.time is not None else None,
    )


def _rendered(shown: Sequence[Shown], chosen: Sequence[Excerpt], entries: int, zone: tzinfo | None) -> str:
    """The entries in source order, with a mark for every gap between them."""
    blocks: list[str] = []
    following = 1
    for each, excerpt in zip(shown, chosen, strict=True):
        if excerpt.order > following:
            blocks.append(gap(_count(excerpt.order - following)))
        blocks.append(f"[{each.label} {_who(each.entry)}{_when(each.entry, zone)}]\n{each.text}")
        following = excerpt.order + 1
    if following <= entries:
        blocks.append(gap(_count(entries + 1 - following)))
    return "\n\n".join(blocks)


def _count(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"


def _who(entry: Entry) -> str:
    """The role, or an origin that makes it no evidence, or less."""
    match entry.origin:
        case Origin.HUMAN | Origin.SYNTHETIC:
            return entry.role.value
        case origin:
            return origin.value


def _when(entry: Entry, zone: tzinfo | None) -> str:
    return f" {_local(entry.time, zone):%Y-%m-%d %H:%M}" if entry.time is not None else ""


def _local(time: datetime, zone: tzinfo | None) -> datetime:
    """The time in the zone; as it is at the ends of the calendar, where a zone leads beyond."""
    return time.astimezone(zone) if 1 < time.year < MAXYEAR else time


def fence(text: str) -> str:
    """Given a text, return a fence longer than any run of backticks in it."""
    return "`" * max([len(run) + 1 for run in _TICKS.findall(text)], default=3)
