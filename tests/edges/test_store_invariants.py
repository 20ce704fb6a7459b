"""Any interleaving of commits, edits by hand, crashes, undo, review and forgetting keeps docs/store.md."""

import tempfile
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from storing import PROJECT, SHOP_ROOT, USER, House, fact, read_aloud, said

from extractord.core.changeset import INDEX
from extractord.core.digesting import digest
from extractord.core.records import Change, Evidence, Outcome
from extractord.edges.store import Keeping, Reviewing
from extractord.edges.store.register import Register
from extractord.errors import ConflictError, StoreError, UsageError
from extractord.policy.requests import RootKind

TOPICS = st.sampled_from(["deploys", "indents", "reviews", "branches", "licences", "caches"])
KINDS = st.sampled_from([PROJECT, USER])
MINE = "# Mine, and nobody else's"
_ROOTS = {PROJECT: SHOP_ROOT, USER: "user"}


class Killed(BaseException):
    """The process is no more."""


class Stores(RuleBasedStateMachine):
    """A store over dictionaries, and what a person knows about it."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.house = House(Path(self._folder.name))
        for folder in self.house.folders.values():
            folder.put(INDEX, f"{MINE}\n".encode())
        self.keeping = Keeping(self.house.store)
        self.reviewing = Reviewing(self.house.store)
        self.saved: list[str] = []
        self.by_hand: list[tuple[str, str, bytes]] = []
        self.kept: dict[tuple[RootKind, str], list[tuple[str, datetime]]] = {}
        self.held_texts: set[str] = set()
        self.plans = 0

    def teardown(self) -> None:
        self._folder.cleanup()

    def _change(self, kind: RootKind, topic: str) -> tuple[Change, str]:
        self.plans += 1
        number = f"{'abcdefghij'[self.plans % 10]}{self.plans:03}"  # none begins another
        words = f"{topic} are settled by plan {number}"
        text = fact(topic, words, "user" if kind is USER else "project")
        return self.house.change(kind, f"{topic}.md", text, Evidence(entry="e1", quote=words)), words

    def _reopened(self) -> None:
        self.house.reopen()
        self.house.store.recover()
        self.keeping, self.reviewing = Keeping(self.house.store), Reviewing(self.house.store)

    @rule(kind=KINDS, topic=TOPICS)
    def commit(self, kind: RootKind, topic: str) -> None:
        change, words = self._change(kind, topic)
        context = self.house.context(said("e1", words, at=self.house.now))
        committed = self.house.store.commit([change], context)
        if committed.outcome is Outcome.SAVED:
            self.saved.append(context.run)
            self.kept.setdefault((kind, topic), []).append((words, self.house.now))
        elif committed.outcome is Outcome.HELD:
            self.held_texts.add(words)
        state = self.house.ledger.ranges.states("codex", "s1")[f"x{self.house.runs}"].state
        assert state == ("claimed" if committed.outcome is Outcome.CONFLICT else "closed")

    @rule(kind=KINDS, topic=TOPICS)
    def hold(self, kind: RootKind, topic: str) -> None:
        change, words = self._change(kind, topic)
        self.house.commit([change], read_aloud("e1", words))
        self.held_texts.add(words)

    @rule(
        kind=KINDS,
        topics=st.lists(TOPICS, min_size=2, max_size=3, unique=True),
        call=st.integers(1, 4),
        after=st.booleans(),
        dies=st.booleans(),
        edits=st.booleans(),
    )
    def crash(
        self, kind: RootKind, topics: list[str], call: int, *, after: bool, dies: bool, edits: bool
    ) -> None:
        """A commit is cut short; in that very moment a person may have written there."""
        made = [self._change(kind, topic) for topic in topics]
        words = ", ".join(words for _, words in made)
        changes = [
            Change(
                root=change.root, path=change.path, text=change.text, base=change.base,
                evidence=(Evidence(entry="e1", quote=words),),
            )
            for change, _ in made
        ]  # fmt: skip
        context = self.house.context(said("e1", words, at=self.house.now))
        self.house.store.notice([_ROOTS[kind]])
        folder, before = self.house.folders[_ROOTS[kind]], self.house.files()
        edit = f"{MINE}\nBy hand, {self.plans}\n".encode() if edits and dies else None
        folder.edited.clear()
        folder.break_at(call, Killed() if dies else StoreError("disk full"), after=after, edit=edit)
        state = "claimed"
        try:
            committed = self.house.store.commit(changes, context)
        except (Killed, StoreError):
            folder.break_at(-1, Killed(), after=False)
            self._reopened()
            for path in folder.edited:
                assert edit is not None
                before[_ROOTS[kind]][path] = edit
                self.by_hand += [(_ROOTS[kind], path, edit)] if path != INDEX else []
            assert self.house.files() == before
            self.house.store.notice([_ROOTS[kind]])
        else:
            folder.break_at(-1, Killed(), after=False)
            state = "closed"
            self.held_texts.update(
                words for change, words in made if f"/memory/{kind}/{change.path}" in committed.held
            )
            if committed.outcome is Outcome.SAVED:
                self.saved.append(context.run)
        assert self.house.ledger.ranges.states("codex", "s1")[f"x{self.house.runs}"].state == state

    @rule(kind=KINDS, topics=st.lists(TOPICS, min_size=2, max_size=2, unique=True))
    def write_unseen_by_all_but_a_commit(self, kind: RootKind, topics: list[str]) -> None:
        """A run looked before a person wrote: the edit stays, whatever the run wants of both files."""
        mine, other = topics
        stale, _ = self._change(kind, mine)
        change, words = self._change(kind, other)
        raw = f"By hand and unseen, {self.plans}".encode()
        self.house.folders[_ROOTS[kind]].put(f"{mine}.md", raw)
        self.by_hand.append((_ROOTS[kind], f"{mine}.md", raw))
        context = self.house.context(said("e1", words, at=self.house.now))
        committed = self.house.store.commit([change, stale], context)
        assert committed.outcome is Outcome.CONFLICT
        assert self.house.folders[_ROOTS[kind]].files[f"{mine}.md"] == raw
        self.house.store.notice([_ROOTS[kind]])

    @rule(kind=KINDS, topic=TOPICS, call=st.integers(1, 2), after=st.booleans(), undoes=st.booleans())
    def crash_deciding(self, kind: RootKind, topic: str, call: int, *, after: bool, undoes: bool) -> None:
        """What a person decides is cut short: it is as if they had not."""
        self.house.now += timedelta(hours=1)
        folder, before = self.house.folders[_ROOTS[kind]], self.house.files()
        stones = set(self.house.ledger.versions.tombstones())
        folder.break_at(call, Killed(), after=after)
        try:
            if undoes and self.saved:
                self.keeping.undo(self.saved[-1])
            else:
                self.keeping.forget(_ROOTS[kind], f"{topic}.md")
        except Killed:
            folder.break_at(-1, Killed(), after=False)
            self._reopened()
            assert self.house.files() == before
            assert set(self.house.ledger.versions.tombstones()) == stones
        except UsageError:
            assert self.house.files() == before
        folder.break_at(-1, Killed(), after=False)

    @rule(kind=KINDS, topic=TOPICS)
    def write_by_hand(self, kind: RootKind, topic: str) -> None:
        self.plans += 1
        raw = f"---\r\nname: {topic}\r\nodd: [1.10]  # mine\r\n---\r\nBy hand, {self.plans}".encode()
        self.house.folders[_ROOTS[kind]].put(f"{topic}.md", raw)
        self.by_hand.append((_ROOTS[kind], f"{topic}.md", raw))
        self.house.store.notice([_ROOTS[kind]])

    @rule(kind=KINDS, topic=TOPICS)
    def delete_by_hand(self, kind: RootKind, topic: str) -> None:
        files = self.house.folders[_ROOTS[kind]].files
        if files.pop(f"{topic}.md", None) is not None:
            self.house.now += timedelta(hours=1)
            assert self.house.store.notice([_ROOTS[kind]]) == ()

    @precondition(lambda self: self.saved)
    @rule(chosen=st.randoms(use_true_random=False))
    def undo(self, chosen: object) -> None:
        run = self.saved.pop(chosen.randrange(len(self.saved)))  # type: ignore[attr-defined]
        before = self.house.files()
        self.house.now += timedelta(hours=1)
        versions = self.house.ledger.versions.made_by(run)
        undone = self.keeping.undo(run)
        if undone.conflicts:
            assert self.house.files() == before
            return
        for version in versions:
            earlier = [
                one
                for one in self.house.ledger.versions.history(version.root, version.path)
                if one.id < version.id
            ]
            there = self.house.folders[version.root].files.get(version.path)
            assert (None if there is None else digest(there)) == (earlier[-1].sha256 if earlier else None)

    @rule(kind=KINDS, topic=TOPICS)
    def forget(self, kind: RootKind, topic: str) -> None:
        self.house.now += timedelta(hours=1)
        with suppress(UsageError):
            self.keeping.forget(_ROOTS[kind], f"{topic}.md")
            self._again(kind, topic)

    def _again(self, kind: RootKind, topic: str) -> None:
        """What a run ever kept of a forgotten memory does not come back from the same words."""
        for words, at in self.kept.get((kind, topic), ()):
            text = fact(topic, words, "user" if kind is USER else "project")
            change = self.house.change(kind, f"{topic}.md", text, Evidence(entry="e1", quote=words))
            again = self.house.commit([change], said("e1", words, at=at))
            assert [refusal.rule for refusal in again.refusals] == ["forgotten"]

    @rule(accepts=st.booleans())
    def review(self, *, accepts: bool) -> None:
        waiting = self.house.ledger.versions.held()
        if not waiting:
            return
        self.house.now += timedelta(hours=1)
        if not accepts:
            self.reviewing.reject(waiting[0])
            return
        before = self.house.files()
        try:
            self.reviewing.accept(waiting[0])
        except (ConflictError, UsageError):
            assert self.house.files() == before
        else:
            self.held_texts -= {
                words
                for words in self.held_texts
                if any(words in (one.text or "") for one in waiting[0].changes)
            }

    @rule(kind=KINDS, topic=TOPICS)
    def pin(self, kind: RootKind, topic: str) -> None:
        with suppress(UsageError):
            self.keeping.pin(_ROOTS[kind], f"{topic}.md", pinned=True)
            before = self.house.folders[_ROOTS[kind]].files[f"{topic}.md"]
            change, words = self._change(kind, topic)
            self.house.commit([change], said("e1", words, at=self.house.now))
            assert self.house.folders[_ROOTS[kind]].files[f"{topic}.md"] == before
            self.keeping.pin(_ROOTS[kind], f"{topic}.md", pinned=False)

    @invariant()
    def what_is_there_is_known_and_can_be_had_again(self) -> None:
        versions = self.house.ledger.versions
        for root, folder in self.house.folders.items():
            there = {path: raw for path, raw in folder.files.items() if path != INDEX}
            current = {path: known.sha256 for path, known in versions.current(root).items()}
            assert {path: digest(raw) for path, raw in there.items()} == current
            for path, raw in there.items():
                assert versions.history(root, path)[-1].sha256 == digest(raw)
                assert versions.content(digest(raw)) == raw
        for root, path, raw in self.by_hand:
            assert digest(raw) in {version.sha256 for version in versions.history(root, path)}

    @invariant()
    def nothing_is_half_done(self) -> None:
        assert self.house.ledger.versions.open_intents() == ()
        assert all(folder.temporary == [] for folder in self.house.folders.values())

    @invariant()
    def each_memory_has_its_line_and_a_persons_lines_stay(self) -> None:
        for root, folder in self.house.folders.items():
            index = folder.files[INDEX].decode()
            assert index.startswith(f"{MINE}\n")
            names = [row.path for row in self.house.store.survey(root) if not row.withheld]
            assert index.count("](") == len(names)
            assert all(f"]({name})" in index for name in names)

    @invariant()
    def what_is_held_stands_nowhere(self) -> None:
        everything = b"\n".join(
            raw for folder in self.house.folders.values() for raw in folder.files.values()
        )
        assert not [words for words in self.held_texts if words.encode() in everything]

    @invariant()
    def audit_and_register_agree_with_the_ledger(self) -> None:
        self.house.ledger.audit.verify()
        register = Register(self.house.register).all()
        assert set(register) == set(self.house.ledger.versions.tombstones())


TestStores = Stores.TestCase
TestStores.settings = settings(max_examples=25, stateful_step_count=20)
