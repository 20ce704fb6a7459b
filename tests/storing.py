"""A store over dictionaries, a person who says things, and a run that writes them down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from doubles import DictFolder

from extractord.core.digesting import digest
from extractord.core.memory import unstamp
from extractord.core.ports import Folder
from extractord.core.records import Change, Entry, Evidence, Origin, Project, Role, Shown
from extractord.edges.ledger import Ledger
from extractord.edges.store import Committed, Context, Store
from extractord.edges.store.roots import Roots
from extractord.policy.requests import RootKind

USER, PROJECT = RootKind.USER, RootKind.PROJECT
SHOP = Project(slug="shop-0123456789abcdef", identity="shop", directory="/home/me/shop")
SHOP_ROOT = f"projects/{SHOP.slug}"
START = datetime(2026, 11, 30, 12, tzinfo=UTC)
KEY = b"k" * 32
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven")


def fact(name: str, words: str, kind: str = "project", body: str = "") -> str:
    return f"---\nname: {name}\ndescription: {words}\nmetadata:\n  type: {kind}\n---\n{body or words}\n"


def said(
    label: str,
    text: str,
    *,
    origin: Origin = Origin.HUMAN,
    role: Role = Role.USER,
    at: datetime | None = START,
) -> Shown:
    entry = Entry(id=f"id-{label}", agent="codex", session="s1", role=role, origin=origin, text=text, time=at)
    return Shown(label=label, entry=entry, text=text)


def read_aloud(label: str, text: str) -> Shown:
    """A tool's output: untrusted."""
    return said(label, text, origin=Origin.SYNTHETIC, role=Role.TOOL)


class House:
    """A memory directory on dictionaries, its ledger in memory, and a clock that is set by hand."""

    def __init__(self, tmp_path: Path, roots: Mapping[str, Mapping[str, bytes]] | None = None) -> None:
        given = roots or {}
        self.folders = {root: DictFolder(given.get(root)) for root in ("user", SHOP_ROOT)}
        self.opened: dict[str, Folder] = dict(self.folders)
        """What the store is given; other folders may be put in."""
        self.ledger = Ledger.in_memory()
        self.now = START + timedelta(minutes=1)
        self.register = tmp_path / "tombstones.jsonl"
        self.memory = tmp_path
        self.runs = 0
        self.store = self.reopen()

    def reopen(self) -> Store:
        """The store as a new process has it."""
        self.store = Store(
            self.memory,
            self.folder,
            self.ledger,
            KEY,
            self.register,
            clock=lambda: self.now,
            redact=lambda text: text.replace("hunter2", "[redacted]"),
        )
        return self.store

    def folder(self, root: str) -> Folder:
        return self.opened[root]

    @property
    def user(self) -> DictFolder:
        return self.folders["user"]

    @property
    def project(self) -> DictFolder:
        return self.folders[SHOP_ROOT]

    def files(self) -> dict[str, dict[str, bytes]]:
        return {root: dict(folder.files) for root, folder in self.folders.items()}

    def change(self, root: RootKind, path: str, text: str | None, *evidence: Evidence) -> Change:
        """A change as a run makes it that looks now."""
        raw = self.folders["user" if root is USER else SHOP_ROOT].files.get(path)
        return Change(
            root=root, path=path, text=text, base=None if raw is None else digest(raw), evidence=evidence
        )

    def context(self, *shown: Shown, **more: object) -> Context:
        self.runs += 1
        run = f"run-{self.runs}"
        owner = self.ledger.present()
        assert self.ledger.ranges.claim("codex", "s1", [f"x{self.runs}"], run, owner, self.now)
        values = {
            "run": run,
            "agent": "codex",
            "session": "s1",
            "project": SHOP,
            "owner": owner,
            "shown": shown,
        }
        return Context(**{**values, **more})  # type: ignore[arg-type]

    def commit(self, changes: Iterable[Change], *shown: Shown, **more: object) -> Committed:
        return self.store.commit(tuple(changes), self.context(*shown, **more))

    def keep(
        self, root: RootKind, path: str, words: str, kind: str = "project", label: str = "e1"
    ) -> Committed:
        """The person says it, a run keeps it."""
        shown = said(label, words, at=self.now)
        name = path.removesuffix(".md").replace("/", "-")
        change = self.change(root, path, fact(name, words, kind), Evidence(entry=label, quote=words))
        return self.commit([change], shown)

    def text(self, root: RootKind, path: str) -> str:
        """A memory without its stamps."""
        return unstamp(self.folders["user" if root is USER else SHOP_ROOT].files[path].decode())

    def roots(self) -> Roots:
        return self.store.roots
