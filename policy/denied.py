"""The rules about names that tools act on, in whatever disguise."""

from __future__ import annotations

from extractord.policy import names
from extractord.policy.cases import FOLDER, read, remove, write
from extractord.policy.characters import shown, skeleton
from extractord.policy.requests import Read
from extractord.policy.rules import Place, Question, Rule, each_place, each_segment


def _floor(segment: str) -> str | None:
    normal = names.floor(segment)
    return (
        f"{shown(segment)} comes to `{normal}`, a denied segment"
        if normal in names.PRESCRIBED_SEGMENTS
        else None
    )


def _denied_segment(segment: str) -> str | None:
    like = skeleton(segment)
    return (
        f"{shown(segment)} looks like `{like}`, a denied segment" if like in names.DENIED_SEGMENTS else None
    )


def _short_name(segment: str) -> str | None:
    return (
        f"{shown(segment)} is the short name of another entry on NTFS"
        if names.is_short_name(segment)
        else None
    )


def _device(segment: str) -> str | None:
    return f"{shown(segment)} is a device on Windows" if names.is_device(skeleton(segment)) else None


def _instruction_file(place: Place, _question: Question) -> str | None:
    name = place.segments[-1] if place.segments else ""
    if names.is_instruction_file(skeleton(name)):
        return f"Coding agents load {shown(name)} as instructions"
    return None


def _index(place: Place, question: Question) -> str | None:
    if isinstance(question.request, Read) or not place.segments:
        return None
    if skeleton(place.segments[-1]) == names.INDEX:
        return f"{shown(place.segments[-1])} is the index"
    return None


NAME_RULES = (
    Rule(
        name="prescribed-floor",
        threat="the known disguises of a denied segment: case, bidi marks, streams, trailing dots",
        sentence="Choose another folder name.",
        find=each_segment(_floor),
        allows=(write("githooks.md"), write("configuration/x.md")),
        denies=(
            write(".git/x.md"),
            write("HOOKS/x.md"),
            write("sk\u200cills/x.md"),
            write("agents:$DATA/x.md"),
            write("hooks. ./x.md"),
            write("head/x.md"),
        ),
    ),
    Rule(
        name="denied-segment",
        threat="folders whose files later run, configure or instruct something",
        sentence="Choose another folder name.",
        find=each_segment(_denied_segment),
        allows=(write("skillset/x.md"), write("reference/x.md"), write("commands.md")),
        denies=(
            write("prompts/x.md"),
            write("git/x.md"),
            write("\u017fkills/x.md"),
            write("comman\u1e0ds/x.md"),
            write("h\u043e\u043eks/x.md"),
            write("\ua4e2\ua4d7\ua4f2\ua4e1\ua4e1\ua4e2/x.md"),
            write("a/b/Output-Styles/x.md"),
            read("objects", FOLDER),
        ),
    ),
    Rule(
        name="short-name",
        threat="8.3 names, by which NTFS reaches a denied entry",
        sentence="Write the name out.",
        find=each_segment(_short_name),
        allows=(write("git-1.md"),),
        denies=(write("git~1/x.md"), write("GI250A~1/x.md"), write("CLAUDE~1.MD"), write("x~1.md")),
    ),
    Rule(
        name="device",
        threat="names that Windows opens as devices",
        sentence="Choose another name.",
        find=each_segment(_device),
        allows=(write("console.md"), write("com10.md")),
        denies=(
            write("CON.md"),
            write("aux/x.md"),
            write("Com7.notes.md"),
            write("con .md"),
            write("LPT\u00b9.md"),
        ),
    ),
    Rule(
        name="instruction-file",
        threat="files that coding agents load as instructions",
        sentence="Name the memory after its fact.",
        find=each_place(_instruction_file),
        allows=(
            write("claude-code-tips.md"),
            write("instructions.md"),
            write("cursor-settings.md"),
            write("local.md"),
        ),
        denies=(
            write("CLAUDE.md"),
            write("sub/AGENTS.md"),
            write("x.instructions.md"),
            write("AGENT\u017f.md"),
            write("\u0421LAUDE.md"),
            write("\u1d04\u029f\u1d00\u1d1c\u1d05\u1d07.md"),
            write("AmazonQ.md"),
            write("HERMES.md"),
            write("CRUSH.local.md"),
            write("opencode.local.md"),
            write("AGENTS.override.md"),
            write("\u13df\u13de\u13aa\u13cc\u13a0\u13ac.md"),
            write("\u13b6\u13ac\u13b7\u13c6\u13c1\u13c6.md"),
            write("\u054f\u0555\u054d\u053c.md"),
            write("\ua4da\ua4e1\ua4ee\ua4f4\ua4d3\ua4f0.md"),
            remove("SKILL.md"),
        ),
    ),
    Rule(
        name="index",
        threat="an index that says what no memory says",
        sentence="The index follows from the memories by itself: change those.",
        find=each_place(_index),
        allows=(read("MEMORY.md"), write("memory-use.md")),
        denies=(write("MEMORY.md"), write("Memory.md"), write("sub/MEMORY.md"), remove("MEMORY.md")),
    ),
)
