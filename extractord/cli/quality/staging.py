"""One case through the whole of extractord: a state and a memory of its own, and then what is left."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import structs

from extractord.batch import drained, plan
from extractord.cli.quality.beforehand import put_beforehand, root_of
from extractord.cli.quality.neutral import AGENT, SESSION, SOURCE, transcript
from extractord.cli.quality.results import Result, Wrote, digest
from extractord.cli.quality.voices import Counted, Voice
from extractord.config import platform_surroundings
from extractord.core.budget import Limits
from extractord.core.cases import Case, Scope
from extractord.core.ports import RunRow
from extractord.core.records import Outcome, Project
from extractord.core.scoring import Left, score
from extractord.edges.store import Store, Writer
from extractord.errors import ExtractordError
from extractord.house import House
from extractord.readingroom import reading_room
from extractord.spending import Spending
from extractord.storeroom import Storeroom, another_store, storeroom

UNLIMITED = Limits(
    run_requests="unlimited",
    run_tokens="unlimited",
    day_requests="unlimited",
    day_tokens="unlimited",
    day_dollars="unlimited",
)
_SHOWN_REFUSALS = 20
_HOMES = "/home/person/projects"
_UNFINISHED = (Outcome.FAILED, Outcome.DEFERRED, Outcome.ABORTED, Outcome.CONFLICT, Outcome.PARKED)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where cases are played: a house whose processes they share, and a folder for theirs."""

    house: House
    folder: Path
    rows: Callable[[str], None] = lambda _warning: None

    async def play(self, case: Case, voice: Voice, name: str) -> Result:
        """Given a case, a model and a name for its folder, return what came of it, or why nothing did."""
        bare = Result(
            model=voice.name, case=case.id, kind=case.kind, language=case.language, digest=digest(case)
        )
        began = time.perf_counter()
        try:
            result = await self._played(case, voice, self.folder / name, bare)
        except ExtractordError as error:
            result = structs.replace(bare, error=str(error))
        return structs.replace(result, ms=(time.perf_counter() - began) * 1000)

    async def _played(self, case: Case, voice: Voice, folder: Path, bare: Result) -> Result:
        host = Counted(voice.host(case))
        async with self.rooms(folder, voice, host, lambda: case.now) as (house, opened):
            cwd = _directory(case)
            room = house.room if case.transcript else replace(house.room, known=(SOURCE,))
            path = _written(case, cwd, folder)
            planned = await plan(room, [path], agent=case.agent or None, since=None, project=None)
            if planned.problems:
                raise planned.problems[0]
            projects = [window.project for window in planned.windows if case.transcript]
            project = projects[0] if projects else house.room.resolve(AGENT, SESSION, cwd)
            before = put_beforehand(opened, case, project)
            rows = [row async for row in drained(house, planned.windows, None)]
            after, indexes = _left(opened.store, project)
            refused = tuple(_refused(house, rows))[:_SHOWN_REFUSALS]
            result = _result(bare, case, host, rows, (before, after, indexes))
            return structs.replace(result, refused=refused)

    @asynccontextmanager
    async def rooms(
        self, folder: Path, voice: Voice, host: Counted, clock: Callable[[], datetime]
    ) -> AsyncIterator[tuple[House, Storeroom]]:
        """Given a folder, open a state and a memory in it; yield the shared house with rooms over them."""
        shared = self.house.settings
        settings = structs.replace(
            shared,
            mode="auto",
            data_dir=folder / "data",
            state_dir=folder / "state",
            memory=type(shared.memory)(),
            projects=type(shared.projects)(),
            agents={},
        )
        async with AsyncExitStack() as stack:
            opened = stack.enter_context(storeroom(settings, self.rows, clock=clock))
            writer = Writer(partial(another_store, settings, opened.state, clock))
            stack.push_async_callback(writer.close)
            ledger, extraction = opened.ledger, self.house.extraction
            room = reading_room(settings, ledger.ranges, str(settings.state_dir), ledger.transaction, clock)
            house = replace(
                self.house,
                settings=settings,
                state=opened.state,
                ledger=ledger,
                writer=writer,
                clock=clock,
                room=room,
                extraction=replace(
                    extraction,
                    accounts=replace(
                        extraction.accounts, ledger=ledger, owner=ledger.present(), model=voice.name
                    ),
                    briefing=replace(extraction.briefing, clock=clock),
                    spending=Spending(ledger.runs, host, self.house.means.redaction, UNLIMITED, clock),
                    writer=writer,
                    clock=clock,
                    mode="auto",
                    embedded=voice.embedded,
                    parked_after=1,
                ),
            )
            yield house, opened


def _directory(case: Case) -> str:
    """Where the case's session works; in no project it is the person's home."""
    if case.project is None:
        return platform_surroundings()[1]
    if case.project.startswith(("/", "~/")):
        return case.project
    return f"{_HOMES}/{case.project or 'project'}"


def _written(case: Case, cwd: str, folder: Path) -> Path:
    if case.transcript:
        return Path(case.transcript)
    path = folder / "transcript.jsonl"
    path.write_bytes(transcript(case, cwd))
    return path


def _left(store: Store, project: Project) -> tuple[list[Left], dict[Scope, str]]:
    """What stands in the two roots in the end, and their indexes."""
    after: list[Left] = []
    indexes: dict[Scope, str] = {}
    scopes: tuple[Scope, ...] = ("user", "project") if project.is_project else ("user",)
    for scope in scopes:
        root = root_of(scope, project)
        for row in store.survey(root):
            if not row.withheld:
                text = store.roots.text(root, row.path) or ""
                after.append(Left(scope=scope, path=row.path, text=text))
        indexes[scope] = store.roots.index(root) or ""
    return after, indexes


def _result(
    bare: Result,
    case: Case,
    host: Counted,
    rows: Sequence[RunRow],
    left: tuple[list[Left], list[Left], dict[Scope, str]],
) -> Result:
    before, after, indexes = left
    failed = next((row for row in rows if row.outcome in _UNFINISHED), None)
    fresh = [one for one in after if one not in before]
    return structs.replace(
        bare,
        marks=score(case, before, after, indexes),
        outcomes=tuple(str(row.outcome) for row in rows),
        wrote=tuple(Wrote(path=f"{one.scope}/{one.path}", text=one.text) for one in fresh),
        held=sum(len(row.held) for row in rows),
        denied=sum(row.denied for row in rows),
        requests=host.requests,
        request_bytes=host.bytes,
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        completion_tokens=sum(row.completion_tokens for row in rows),
        dollars=sum(row.dollars for row in rows),
        error=f"{failed.outcome}: {failed.reason}" if failed else "",
        other_brief=host.other_brief,
    )


def _refused(house: House, rows: Sequence[RunRow]) -> Iterator[str]:
    for run in rows:
        for row in house.ledger.audit.about(run.run):
            if row.kind == "refused":
                yield " ".join(str(row.detail.get(key, "")) for key in ("verdict", "rule", "path"))
