"""How each real agent is started, without a person, against the model on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 180


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent: its command, what it must find in its home, how a prompt is given to it."""

    name: str
    """As extractord spells it."""
    command: str
    settled: Callable[[Path, str], Mapping[str, str]]
    """Given its home and the model's address, write its settings; return its environment."""
    first: tuple[str, ...]
    """Arguments of a new session; `{}` is the prompt, `{memory}` the folder of the memories."""
    again: tuple[str, ...]
    """Arguments that go on with the newest session."""
    home: str
    """Below the person's home, where its transcripts are."""
    rewound: tuple[str, ...] = ()
    """Keys that take back the newest prompt of an interactive session; empty: it is not driven so."""
    says_headless: bool = False
    """Its records say that a prompt came from a program."""

    def program(self) -> str | None:
        """The agent's program: in the folder that AGENTS_BIN names, else on PATH."""
        folder = os.environ.get("AGENTS_BIN")
        return shutil.which(self.command, path=folder or None)

    def environ(self, where: Where) -> dict[str, str]:
        """What it finds in its environment, its settings being in its home."""
        return {**where.environ, **self.settled(where.home, where.url)}

    async def told(self, prompt: str, where: Where, *, goes_on: bool) -> None:
        """Given a prompt, start the agent with it in the project, and wait for its end."""
        filled = {"{}": prompt, "{memory}": str(where.memory)}
        arguments = [filled.get(each, each) for each in (self.again if goes_on else self.first)]
        process = await asyncio.create_subprocess_exec(
            self.program() or self.command,
            *arguments,
            cwd=where.project,
            env=self.environ(where),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            said, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, said.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Where:
    """The person's home and project of one test, and the model's address."""

    home: Path
    project: Path
    url: str

    @property
    def memory(self) -> Path:
        return self.home / "memory"

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }


def _written(path: Path, settings: object) -> None:
    """Write settings that are not there yet: agents, and whoever adds to them, write there too."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(settings if isinstance(settings, str) else json.dumps(settings))


def _claude_code(home: Path, url: str) -> Mapping[str, str]:
    seen = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["none"]},
        "projects": {str(home / "shop"): seen},
    }
    _written(home / ".claude.json", settings)
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _codex(home: Path, url: str) -> Mapping[str, str]:
    settings = f"""
        model = "stand-in"
        model_provider = "loopback"
        check_for_update_on_startup = false
        [model_providers.loopback]
        name = "loopback"
        base_url = "{url}/v1"
        wire_api = "responses"
        env_key = "LOOPBACK_KEY"
        [projects."{home}/shop"]
        trust_level = "trusted"
    """
    _written(home / ".codex/config.toml", settings)
    return {"LOOPBACK_KEY": "none"}


def _gemini_cli(home: Path, url: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    _written(home / ".gemini/settings.json", settings)
    return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none", "GEMINI_CLI_NO_RELAUNCH": "true"}


def _qwen_code(home: Path, url: str) -> Mapping[str, str]:
    settings = {
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    }
    _written(home / ".qwen/settings.json", settings)
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": "stand-in",
        "QWEN_CODE_NO_RELAUNCH": "true",
    }


def _opencode(home: Path, url: str) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "loopback",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"stand-in": {"name": "stand-in"}},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "provider": {"loopback": provider},
        "model": "loopback/stand-in",
        "permission": "allow",
    }
    _written(home / ".config/opencode/opencode.json", settings)
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}


def _pi(home: Path, url: str) -> Mapping[str, str]:
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{"id": "stand-in"}],
    }
    _written(home / ".pi/agent/models.json", {"providers": {"loopback": provider}})
    return {"PI_OFFLINE": "1"}


def _copilot_cli(home: Path, url: str) -> Mapping[str, str]:
    _written(home / ".copilot/config.json", {"banner": "never", "trusted_folders": [str(home)]})
    return {
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "stand-in",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }


def _kilo(home: Path, url: str) -> Mapping[str, str]:
    environ = _opencode(home, url)
    settings = (home / ".config/opencode/opencode.json").read_text()
    _written(home / ".config/kilo/kilo.json", settings)
    return {name.replace("OPENCODE", "KILO"): value for name, value in environ.items()}


def _hermes(home: Path, url: str) -> Mapping[str, str]:
    model = {
        "default": "stand-in",
        "provider": "custom",
        "base_url": f"{url}/v1",
        "api_key": "none",
        "api_mode": "chat_completions",
    }
    _written(home / ".hermes/config.yaml", {"model": model})
    return {}


def _kimi(home: Path, url: str) -> Mapping[str, str]:
    settings = f"""
        default_model = "stand-in"
        [providers.loopback]
        type = "openai"
        base_url = "{url}/v1"
        api_key = "none"
        [models.stand-in]
        provider = "loopback"
        model = "stand-in"
        max_context_size = 128000
    """
    _written(home / ".kimi-code/config.toml", settings)
    return {"KIMI_CODE_NO_AUTO_UPDATE": "1"}


_UP = "\x1b[A"
_ENTER = "\r"
_ESCAPE = "\x1b"

_CODEX_MAY = ("--dangerously-bypass-approvals-and-sandbox",)
_GEMINI = (
    *("--yolo", "--skip-trust", "-m", "gemini-2.5-flash"),
    *("--include-directories", "{memory}", "-p", "{}"),
)
_QWEN = ("--auth-type", "openai", "--yolo", "-p", "{}")
_COPILOT = ("--no-color", "--allow-all", "-p", "{}")
_PI = ("--provider", "loopback", "--model", "stand-in", "-p", "{}")

AGENTS = (
    Agent(
        "claude-code",
        "claude",
        _claude_code,
        first=("-p", "{}", "--allowedTools", "Bash,Write"),
        again=("-p", "{}", "--continue", "--allowedTools", "Bash,Write"),
        home=".claude",
        rewound=(_ESCAPE + _ESCAPE, _UP, _ENTER, _ENTER),
        says_headless=True,
    ),
    Agent(
        "codex",
        "codex",
        _codex,
        first=("exec", *_CODEX_MAY, "{}"),
        again=("exec", *_CODEX_MAY, "resume", "--last", "{}"),
        home=".codex",
        rewound=(_ESCAPE, _ESCAPE, _ENTER),
        says_headless=True,
    ),
    Agent(
        "gemini-cli", "gemini", _gemini_cli, first=_GEMINI, again=("-r", "latest", *_GEMINI), home=".gemini"
    ),
    Agent("qwen-code", "qwen", _qwen_code, first=_QWEN, again=("--continue", *_QWEN), home=".qwen"),
    Agent(
        "opencode",
        "opencode",
        _opencode,
        first=("run", "{}"),
        again=("run", "--continue", "{}"),
        home=".local/share/opencode",
    ),
    Agent("pi", "pi", _pi, first=_PI, again=("--continue", *_PI), home=".pi"),
)
"""Agents that a person adds extractord to, and that are watched."""
ONLY_WATCHED = (
    Agent(
        "copilot-cli",
        "copilot",
        _copilot_cli,
        first=_COPILOT,
        again=("--continue", *_COPILOT),
        home=".copilot",
        says_headless=True,
    ),
    Agent(
        "kilo",
        "kilo",
        _kilo,
        first=("run", "{}"),
        again=("run", "--continue", "{}"),
        home=".local/share/kilo",
    ),
    Agent(
        "hermes",
        "hermes",
        _hermes,
        first=("chat", "--yolo", "-q", "{}"),
        again=("chat", "--yolo", "--continue", "-q", "{}"),
        home=".hermes",
    ),
    Agent("kimi", "kimi", _kimi, first=("-p", "{}"), again=("--continue", "-p", "{}"), home=".kimi-code"),
)
"""Agents whose transcripts are read, and no more."""
