"""Which memories of a brief say nothing that another one does not say: only those go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from extractord.agent.heuristics.reading import last_fenced, parted
from extractord.core.consolidation import says_all
from extractord.core.records import Call, Message

_HEAD = re.compile(
    r"^\[(?P<label>e\d{1,9}) (?P<path>/memory/(?P<root>user|project)/[^\n]{1,1024}?\.md) (?P<trust>[a-z]+) "
    r"(?P<day>\d{4}-\d\d-\d\d)\]$",
    re.MULTILINE,
)
_TRUSTS = ("unknown", "untrusted", "inferred", "stated", "confirmed")


class _Listed(Struct, frozen=True):
    label: str
    path: str
    root: str
    trust: int
    day: str
    text: str


def removals(messages: Sequence[Message]) -> list[Call]:
    """Given the messages of a run over memories, return an rm for each that another one contains.

    The better one stays: believed more, then longer, then said later.
    """
    content = next((message.content for message in messages if message.role == "user"), "")
    listed, _ = last_fenced(content)
    memories = sorted(
        _listed(listed), key=lambda one: (one.trust, len(one.text), one.day, one.path), reverse=True
    )
    calls: list[Call] = []
    gone: set[str] = set()
    for at, keeper in enumerate(memories):
        for other in memories[at + 1 :]:
            if keeper.path in gone or other.path in gone or keeper.root != other.root:
                continue
            if says_all(keeper.text, other.text):
                gone.add(other.path)
                calls.append(_rm(len(calls) + 1, other.path, keeper))
    return calls


def _listed(text: str) -> Iterator[_Listed]:
    for head, end in parted(_HEAD, text):
        trust = _TRUSTS.index(head["trust"]) if head["trust"] in _TRUSTS else 0
        yield _Listed(
            head["label"], head["path"], head["root"], trust, head["day"], text[head.end() : end].strip()
        )


def _rm(number: int, path: str, keeper: _Listed) -> Call:
    evidence = [{"entry": keeper.label, "quote": keeper.text.partition("\n")[0]}]
    arguments = {"command": f"rm '{path}'", "evidence": evidence}
    return Call(id=f"call-{number}", name="Bash", arguments=msgspec.json.encode(arguments).decode())
