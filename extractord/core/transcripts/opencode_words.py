"""What a person typed in opencode, where oh-my-opencode, a plugin that leads agents, put more round it."""

from __future__ import annotations

import re

from extractord.core.records import Origin

_TEMPLATES = (
    "Please analyze this codebase and create an AGENTS.md file containing:",
    "Create or update `AGENTS.md` for this repository.",
    "You are a code reviewer. Your job is to review code changes and provide actionable feedback.",
)
"""How the prompts begin that its own commands give in a person's name."""
_ENDS = ("<!-- OMO_INTERNAL_INITIATOR -->", "<!-- OMO_INTERNAL_NOREPLY -->")
_ITS_OWN = re.compile(
    r"\s*(?:(?:ultrawork )?\[SYSTEM DIRECTIVE: "
    r"|\[(?:BACKGROUND TASK COMPLETED|ALL BACKGROUND TASKS COMPLETE)\])"
)
_MODE = r"\[(?:search|analyze|team|ultrawork-autonomous)-mode\]\r?\n"
_AHEAD = re.compile(
    rf"""\s*(?:
        <(?P<mode>(?:ultrawork|hyperplan)-mode)>.*</(?P=mode)>(?:\s*^---[ \t\r]*(?:\n|\Z))?
        |(?:{_MODE}|MANDATORY\ [a-z_]{{1,32}}\ params:).*?^---[ \t\r]*(?:\n|\Z)
    )""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""How a mode that a word of the prompt set off is told ahead of it; behind it in newer versions."""
_BEHIND = re.compile(rf"^---[ \t\r]*\n\s*(?:<(?:ultrawork|hyperplan)-mode>|{_MODE})", re.MULTILINE)
_UNENDED = re.compile(rf"\s*(?:<(?:ultrawork|hyperplan)-mode>|{_MODE})")
_COMMAND = re.compile(r"\s*<(?:auto-slash-command>\s*\# /(?P<name>\S+) Command\b|command-instruction>)")
_REQUESTS = (
    ("## User Request\n", "</auto-slash-command>"),
    ("<user-request>", "</user-request>"),
    ("<user-task>", "</user-task>"),
)
"""Where in a command's prompt stands what was typed behind its name."""
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def heard(text: str) -> tuple[str, Origin]:
    """Given a text of a user's message, return what a person said in it, and whose the text is.

    `SYNTHETIC` and nothing for what the plugin says itself, `HEADLESS` for a command's own words.
    """
    text = unquoted(text)
    if text.rstrip().endswith(_ENDS) or _ITS_OWN.match(text):
        return "", Origin.SYNTHETIC
    at = 0
    while ahead := _AHEAD.match(text, at):
        at = ahead.end()
    said = text[at:]
    if _UNENDED.match(said) or _ITS_OWN.match(said):
        return "", Origin.SYNTHETIC
    if behind := _BEHIND.search(said):
        said = said[: behind.start()]
    said = said.strip() if at or behind else said
    if command := _COMMAND.match(said):
        words = next(filter(None, (_last_between(said, *marks) for marks in _REQUESTS)), "")
        typed = f"/{command['name']} {words}".strip() if command["name"] else words
        return (typed, Origin.HUMAN) if typed else (said, Origin.HEADLESS)
    if said.lstrip().startswith(_TEMPLATES):
        return said, Origin.HEADLESS
    return said, Origin.SYNTHETIC if text.strip() and not said.strip() else Origin.HUMAN


def beside(text: str) -> str:
    """Given the same text, return what stands in it beside what a person said."""
    text = unquoted(text)
    said, _ = heard(text)
    return text.replace(said, "", 1).strip() if said and said in text else text.strip()


def _last_between(text: str, begin: str, end: str) -> str:
    until = text.rfind(end)
    start = text.rfind(begin, 0, until) if until >= 0 else -1
    return text[start + len(begin) : until].strip() if start >= 0 else ""


def unquoted(text: str) -> str:
    """Given a prompt, take off the quotes that `opencode run` puts round an argument with spaces."""
    match = _QUOTED.fullmatch(text.strip())
    return match[1].replace('\\"', '"') if match else text
