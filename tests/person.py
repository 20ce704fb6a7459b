"""Somebody with memories, at a command line, at a terminal, and with runs that happened."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from storing import said
from warm import seated, typed

from extractord.config import Settings
from extractord.core.digesting import digest
from extractord.core.ports import RunRow
from extractord.core.records import Change, Evidence, Origin, Project
from extractord.edges.store import Committed, Context
from extractord.policy.requests import RootKind
from extractord.storeroom import Storeroom, now, storeroom

EXTRACTORD = [sys.executable, "-m", "extractord"]
SHOP = Project(slug="shop-0123456789abcdef", identity="shop", directory="/nowhere/shop")
SHOP_ROOT = f"projects/{SHOP.slug}"
_PATIENCE_S = 60.0


class Person:
    """A home of its own, nothing in it but an empty configuration."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.memory = home / "data" / "memory"
        self.state = home / "state"
        self.shop = home / "shop"
        (self.shop / ".git").mkdir(parents=True, exist_ok=True)
        home.chmod(0o700)
        (home / "config.toml").touch()
        self.runs = 0
        self.began = now()

    @property
    def settings(self) -> Settings:
        return Settings(data_dir=self.home / "data", state_dir=self.state)

    def environ(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "EXTRACTORD_DATA_DIR": str(self.home / "data"),
            "EXTRACTORD_STATE_DIR": str(self.state),
            "EXTRACTORD_CONFIG": str(self.home / "config.toml"),
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "COLUMNS": "200",
            **more,
        }

    def types(
        self, *arguments: str, cwd: Path | None = None, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """A command in a script: no terminal."""
        return typed(arguments, self.environ(**more), cwd or self.home)

    def told(self, *arguments: str, cwd: Path | None = None) -> list[dict[str, Any]]:
        """What a command says with --json."""
        done = self.types(*arguments, "--json", cwd=cwd)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def sits(
        self, *arguments: str, keys: Iterable[str] = "", prompt: str = "[q]uit ", **more: str
    ) -> tuple[int, str]:
        """A command at a terminal: each key is pressed when it is asked for; exit code and screen."""
        terminal, ended = seated(arguments, self.environ(TERM="dumb", **more), self.home)
        screen, asked, waiting = "", 0, list(keys)
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            if waiting and screen.count(prompt) > asked:
                asked = screen.count(prompt)
                time.sleep(0.05)
                os.write(terminal, waiting.pop(0).encode())
            if not select.select([terminal], [], [], 0.05)[0]:
                continue
            try:
                seen = os.read(terminal, 65536)
            except OSError:
                break
            if not seen:
                break
            screen += seen.decode("utf-8", "replace")
        os.close(terminal)  # whoever sits there still is hung up on
        return ended(), screen.replace("\r\n", "\n")

    def writes(self, root: str, path: str, text: str) -> None:
        """A file by hand."""
        place = self.memory / root / path
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.memory, *place.parents):
            if folder.is_relative_to(self.home / "data"):
                folder.chmod(0o700)
        place.write_text(text)
        place.chmod(0o600)

    def editor(self, *lines: str) -> str:
        """An editor that does what the lines of shell say with the file `$1`."""
        place = self.home / "editor"
        place.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        place.chmod(0o700)
        return str(place)

    def run(
        self,
        changes: Iterable[tuple[RootKind, str, str | None]],
        words: str,
        *,
        origin: Origin = Origin.HUMAN,
        mode: Literal["auto", "ask"] = "auto",
        at: datetime | None = None,
        room: Storeroom | None = None,
    ) -> Committed:
        """A run that changes these memories, since these words were said."""
        if room is None:
            with storeroom(self.settings, print) as opened:
                return self.run(changes, words, origin=origin, mode=mode, at=at, room=opened)
        self.runs += 1
        run, owner = f"run-{self.runs}", room.ledger.present()
        assert room.ledger.ranges.claim("codex", "s1", [f"x{self.runs}"], run, owner, room.store.clock())
        room.ledger.runs.start(
            RunRow(
                run=run,
                agent="codex",
                session="s1",
                project=SHOP.slug,
                model="scripted",
                started_at=room.store.clock(),
            )
        )
        cited = (Evidence(entry="e1", quote=words),)
        made = []
        for kind, path, text in changes:
            raw = room.store.roots.raw("user" if kind is RootKind.USER else SHOP_ROOT, path)
            base = None if raw is None else digest(raw)
            made.append(Change(root=kind, path=path, text=text, base=base, evidence=cited))
        shown = (said("e1", words, origin=origin, at=at or room.store.clock()),)
        committed = room.store.commit(
            made,
            Context(run=run, agent="codex", session="s1", project=SHOP, owner=owner, shown=shown, mode=mode),
        )
        room.ledger.ranges.finish(run, committed.outcome, room.store.clock())
        return committed
