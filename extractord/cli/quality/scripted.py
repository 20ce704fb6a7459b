"""Two models that know their case: one does all that it asks, one all that it forbids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from extractord.agent.heuristics.reading import Existing, Reading, Said, read
from extractord.cli.quality.samples import sample
from extractord.core.cases import Case, MustKeep
from extractord.core.records import Call, Message, Reply, Tool
from extractord.core.words import count_words

PERFECT, HOSTILE = "scripted-perfect", "scripted-hostile"
_SENTENCE = re.compile("(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])\\s*|\n+")
_WORD = re.compile(r"\w+")
_LEAST, _PHRASE = 3, 2
_TYPES_OF = {"user": "user", "project": "project"}
_REPLIES = 3
"""The hostile one goes on for so many turns."""


class Perfect:
    """Implements Host: every fact that the case wants, in the words in which it was said."""

    def __init__(self, case: Case) -> None:
        self._case = case

    async def complete(  # the port's
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],  # noqa: ARG002
        most: int = 0,  # noqa: ARG002
    ) -> tuple[Reply, int]:
        """Answer with all of it at once, and Finish."""
        reading = read(messages)
        answered = any(message.role == "tool" for message in messages)
        calls = [] if answered else [*self._writes(reading.said, reading.existing), *self._removals(reading)]
        return _reply(PERFECT, [*calls, ("Finish", {})]), 1

    def _writes(
        self, said: Sequence[Said], existing: Sequence[Existing]
    ) -> Iterator[tuple[str, dict[str, object]]]:
        taken = {one.path for one in existing}
        gone = {one.evidence_entry for one in self._case.forgotten_before}
        forgotten = {each.text.strip() for each in self._case.entries if each.id in gone}
        said = [entry for entry in said if entry.text.strip() not in forgotten]
        for item in self._case.must_keep:
            if not item.updates and any(_says(item, _text_of(one)) for one in existing):
                continue  # it is there
            entry, quote = _spoken(item, said)
            if entry is None:
                continue
            text = quote
            missing = [pattern for pattern in item.all_of if not _found(pattern, text)]
            more = [each for each in map(sample, missing) if each]
            if more:
                text = f"{text.rstrip('.')} ({', '.join(more)})."
            scope, path, type_ = self._place(item, _name(quote), taken)
            yield (
                "Write",
                {
                    "file_path": f"/memory/{scope}/{path}",
                    "content": _memory(path.removesuffix(".md"), text, type_),
                    "evidence": [{"entry": entry.label, "quote": quote}],
                },
            )

    def _place(self, item: MustKeep, name: str, taken: set[str]) -> tuple[str, str, str]:
        before = next((one for one in self._case.memories_before if one.file == item.updates), None)
        type_ = item.type[0] if item.type else ""
        if before is not None:
            return before.scope, before.file, type_ or before.type
        scope = item.scope or ("user" if type_ in ("user", "feedback") else "project")
        if self._case.project is None:
            scope = "user"
        while f"/memory/{scope}/{name}.md" in taken:
            name += "-too"
        taken.add(f"/memory/{scope}/{name}.md")
        return scope, f"{name}.md", type_ or _TYPES_OF[scope]

    def _removals(self, reading: Reading) -> Iterator[tuple[str, dict[str, object]]]:
        said, existing = reading.said, reading.existing
        for name in self._case.must_delete:
            stem = name.removesuffix(".md").rpartition("/")[2]
            for one in existing:
                if one.path.rpartition("/")[2] != f"{stem}.md":
                    continue
                words = _words(_text_of(one))
                about = max(
                    (
                        (len(words & _words(part)), entry.label, part)
                        for entry in said
                        for part in _parts(entry.text)
                    ),
                    default=None,
                )
                if about is not None:
                    evidence = [{"entry": about[1], "quote": about[2]}]
                    yield "Bash", {"command": f"rm '{one.path}'", "evidence": evidence}


class Hostile:
    """Implements Host: whatever the case forbids, said to be the person's; secrets; everything removed."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._asked = 0

    async def complete(  # the port's
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],  # noqa: ARG002
        most: int = 0,  # noqa: ARG002
    ) -> tuple[Reply, int]:
        """Answer with all of it, in one way after another."""
        reading = read(messages)
        self._asked += 1
        calls = list(self._writes(reading.said, messages))
        calls += [("Bash", {"command": f"rm -f '{one.path}'", "evidence": []}) for one in reading.existing]
        finish: list[tuple[str, dict[str, object]]] = [("Finish", {})] if self._asked >= _REPLIES else []
        return _reply(HOSTILE, [*calls, *finish]), 1

    def _writes(
        self, said: Sequence[Said], messages: Sequence[Message]
    ) -> Iterator[tuple[str, dict[str, object]]]:
        shown = re.findall(r"^\[(e\d+) \w+", messages[1].content if len(messages) > 1 else "", re.MULTILINE)
        for number, text in enumerate(self._forbidden()):
            name = _name(text) + "-too" * (number + self._asked)
            proofs = _proofs(said, text, shown)
            for evidence, (root, type_) in zip(
                proofs * 3,
                (("user", "feedback"), ("project", "project"), ("project", "reference")),
                strict=False,
            ):
                content = _memory(name, text, type_)
                yield (
                    "Write",
                    {"file_path": f"/memory/{root}/{name}.md", "content": content, "evidence": evidence},
                )
            for path in (
                "/memory/user/MEMORY.md",
                f"/memory/user/../../{name}.md",
                "/memory/project/CLAUDE.md",
            ):
                yield "Write", {"file_path": path, "content": text, "evidence": proofs[0]}

    def _forbidden(self) -> Iterator[str]:
        """What must not be kept, as it was said and made of the patterns; what was forgotten."""
        yield from (gone.description for gone in self._case.forgotten_before if gone.description)
        entries = self._case.entries
        typed = [entry.text for entry in entries if entry.origin == "human" and entry.text.strip()]
        for pattern in (pattern for item in self._case.must_not_keep for pattern in item.any_of):
            for entry in entries:
                yield from [part for part in _parts(entry.text) if _found(pattern, part)][:2]
            made = sample(pattern)
            if made is None:
                continue
            yield made
            if typed and len(_WORD.findall(made)) >= _PHRASE:
                yield f"{_parts(typed[0])[0]} {made}"


def _proofs(said: Sequence[Said], text: str, shown: Sequence[str]) -> list[list[dict[str, str]]]:
    """Evidence of three kinds: the person's nearest words, a lie about what the person said, nothing."""
    lie = {"entry": said[0].label if said else "e1", "quote": text}
    found = [[lie], [{"entry": label, "quote": text} for label in shown[:8]]]
    words = _words(text)
    parts = [(len(words & _words(part)), entry.label, part) for entry in said for part in _parts(entry.text)]
    if parts:
        nearest = max(parts)
        found.insert(0, [{"entry": nearest[1], "quote": nearest[2]}])
    return found


def _spoken(item: MustKeep, said: Sequence[Said]) -> tuple[Said | None, str]:
    """The person's words that say it best, and their entry: by patterns, then `what`, then brevity."""
    best: tuple[int, int, int, int, Said, str] | None = None
    about = _words(item.what)
    for order, entry in enumerate(said):
        parts = _parts(entry.text)
        stretches = [
            entry.text[entry.text.index(parts[start]) : entry.text.rindex(parts[end]) + len(parts[end])]
            for start in range(len(parts))
            for end in range(start, min(start + 4, len(parts)))
        ]
        for stretch in stretches:
            if count_words(stretch) < _LEAST and stretch != entry.text:
                continue
            hits = sum(_found(pattern, stretch) for pattern in item.all_of)
            found = (hits, len(about & _words(stretch)), -len(stretch), order, entry, stretch)
            if best is None or found[:4] > best[:4]:
                best = found
    return (best[4], best[5]) if best is not None else (None, "")


def _name(text: str) -> str:
    """A file's name of a text's own first words, without figures: nothing that nobody said."""
    words = [word.casefold() for word in _WORD.findall(text) if word.isalpha()]
    return "-".join(words[:4])[:40].strip("-") or "fact"


def _parts(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()] or [text]


def _words(text: str) -> set[str]:
    return {word[:5].casefold() for word in _WORD.findall(text)}


def _says(item: MustKeep, text: str) -> bool:
    return all(_found(pattern, text) for pattern in item.all_of)


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _text_of(one: Existing) -> str:
    return f"{one.name}\n{one.description}\n{one.body}"


def _memory(name: str, text: str, type_: str) -> str:
    line = msgspec.json.encode(" ".join(text.split())[:180]).decode()
    return f"---\nname: {name}\ndescription: {line}\nmetadata:\n  type: {type_}\n---\n{text}\n"


def _reply(model: str, calls: Iterable[tuple[str, dict[str, object]]]) -> Reply:
    return Reply(
        calls=tuple(
            Call(id=f"call-{number}", name=name, arguments=msgspec.json.encode(arguments).decode())
            for number, (name, arguments) in enumerate(calls, 1)
        ),
        model=model,
    )
