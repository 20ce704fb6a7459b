"""The names that no memory may have, since a tool that finds them acts on them.

The lists begin with the prescribed denied segments, and go on with what coding agents, editors
and git load from a folder (git's `path.c` and `compat/mingw.c`; the agents' own documentation).
"""

from __future__ import annotations

import re

PRESCRIBED_SEGMENTS = frozenset(
    [
        ".git",
        "hooks",
        ".husky",
        ".githooks",
        "node_modules",
        ".vscode",
        ".idea",
        "head",
        "config",
        "objects",
        "refs",
        ".zcode",
        "skills",
        "commands",
        "agents",
        ".cargo",
        ".devcontainer",
        ".yarn",
        ".mvn",
    ]
)
"""The prescribed floor, as it was given."""

_MORE_SEGMENTS = frozenset(
    [
        ".github",
        ".claude",
        ".cursor",
        ".gemini",
        ".codex",
        ".qwen",
        ".opencode",
        ".kiro",
        ".windsurf",
        ".clinerules",
        ".roo",
        ".amazonq",
        ".junie",
        ".continue",
        ".agents",
        ".ssh",
        ".config",
        ".obsidian",
        ".gitmodules",
        ".gitignore",
        ".gitattributes",
        ".mailmap",
        "agent",
        "command",
        "skill",
        "rules",
        "prompts",
        "plugins",
        "output-styles",
        "steering",
        "modes",
        "index",
        "info",
        "worktrees",
        "modules",
    ]
)

DENIED_SEGMENTS = (
    PRESCRIBED_SEGMENTS | _MORE_SEGMENTS | frozenset(name.removeprefix(".") for name in PRESCRIBED_SEGMENTS)
)
"""Whole segments, as skeletons."""

INDEX = "memory.md"
"""The index, as a skeleton: it is derived from the memories and never written by a run."""

_AGENTS = frozenset(
    [
        "claude",
        "claude-code",
        "codex",
        "gemini",
        "gemini-cli",
        "qwen",
        "qwen-code",
        "opencode",
        "pi",
        "copilot",
        "copilot-cli",
        "goose",
        "aider",
        "cline",
        "roo",
        "roocode",
        "amp",
        "cursor",
        "zcode",
        "crush",
        "openclaw",
        "clawdbot",
        "moltbot",
        "hermes",
        "hermes-agent",
        "kimi",
        "kimi-cli",
        "droid",
        "factory",
        "warp",
        "amazonq",
        "q",
        "codebuddy",
        "iflow",
        "replit",
        "windsurf",
        "cascade",
        "kiro",
        "junie",
        "jules",
        "devin",
        "zed",
        "trae",
        "qoder",
        "augment",
        "auggie",
        "kilo",
        "kilocode",
        "grok",
        "vibe",
        "mistral-vibe",
        "continue",
        "cody",
        "tabnine",
        "kode",
        "forge",
        "rovodev",
        "openhands",
        "agents",
        "agent",
    ]
)
"""The stems of what agents load: `CLAUDE.md`, and so for each, since the next one does likewise."""
_AGENT_FILE = re.compile(
    r"\.?(?P<agent>[a-z-]{1,24}?)(?:[-_.](?:local|override|user|private|global|project))?\.md"
)
_INSTRUCTION_FILES = frozenset(
    [
        "skill.md",
        "copilot-instructions.md",
        "soul.md",
        "heartbeat.md",
        "bootstrap.md",
        "identity.md",
        "tools.md",
        "user.md",
        "boot.md",
        "conventions.md",
        "goosehints.md",
        "clinerules.md",
        "cursorrules.md",
        "windsurfrules.md",
        "roorules.md",
        "project_rules.md",
        "user_rules.md",
        "augment-guidelines.md",
    ]
)
_INSTRUCTION_ENDINGS = (".instructions.md", ".prompt.md", ".chatmode.md", ".agent.md", ".rules.md")

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)]
)
_SHORT_NAME = re.compile(r"[^~]*~[0-9]+(?:\.[^.]*)?")
_PRESCRIBED_IGNORABLES = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def floor(segment: str) -> str:
    """Given a segment, return it normalised as prescribed.

    Lower case; U+200C to 200F, 202A to 202E, 206A to 206F and FEFF stripped; cut at the first
    `:`; trailing dots and spaces trimmed.
    """
    return _PRESCRIBED_IGNORABLES.sub("", segment.lower()).partition(":")[0].rstrip(". ")


def is_instruction_file(skeleton: str) -> bool:
    """True for the skeleton of a file that some agent loads as instructions."""
    agents = _AGENT_FILE.fullmatch(skeleton)
    return (
        (agents is not None and agents["agent"] in _AGENTS)
        or skeleton.removeprefix(".") in _INSTRUCTION_FILES
        or skeleton.endswith(_INSTRUCTION_ENDINGS)
    )


def is_device(skeleton: str) -> bool:
    """True where Windows takes the stem before the first dot for a device."""
    return re.split(r"[.:]", skeleton, maxsplit=1)[0].rstrip(" ") in _DEVICES


def is_short_name(skeleton: str) -> bool:
    """True for an 8.3 name such as `git~1`, by which NTFS reaches another entry."""
    return _SHORT_NAME.fullmatch(skeleton) is not None
