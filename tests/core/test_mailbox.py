from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from extractord.core.mailbox import TRANSITIONS, Event, Mailbox, State, figure, key_of
from extractord.core.records import Exchange, Project, Snapshot, Window

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def snapshot(session: str, *keys: str, project: str = "p") -> Snapshot:
    exchanges = tuple(Exchange(agent="pi", session=session, key=key, entries=(), ended=True) for key in keys)
    where = Project(slug=project, identity=project, directory=f"/{project}")
    return Snapshot(window=Window(agent="pi", session=session, project=where, exchanges=exchanges))


def test_one_snapshot_waits_a_session_and_one_runs_a_project() -> None:
    box = Mailbox(2)
    box.offer(snapshot("a", "1"))
    box.offer(snapshot("b", "2"))
    box.offer(snapshot("a", "1", "3"))
    assert box.waiting == 2
    assert box.take(NOW) == snapshot("a", "1", "3")
    assert box.take(NOW) is None
    box.offer(snapshot("a", "4"))
    assert box.state(key_of(snapshot("a"))) is State.TRAILING
    box.finish(snapshot("a"))
    assert box.take(NOW) == snapshot("b", "2")
    box.finish(snapshot("b"))
    assert box.take(NOW) == snapshot("a", "4")
    box.finish(snapshot("a"))
    assert (box.waiting, box.in_flight, box.take(NOW)) == (0, 0, None)


def test_projects_run_beside_one_another_up_to_the_concurrency() -> None:
    box = Mailbox(2)
    for project in "xyz":
        box.offer(snapshot(project, "1", project=project))
    assert [box.take(NOW), box.take(NOW), box.take(NOW)] == [
        snapshot("x", "1", project="x"),
        snapshot("y", "1", project="y"),
        None,
    ]
    box.finish(snapshot("y", project="y"))
    assert box.take(NOW) == snapshot("z", "1", project="z")


def test_a_released_window_replaces_what_waits_and_waits_for_its_time() -> None:
    box = Mailbox(1)
    box.offer(snapshot("a", "1"))
    box.take(NOW)
    box.offer(snapshot("a", "2"))
    later = NOW + timedelta(minutes=1)
    box.release(snapshot("a", "1"), snapshot("a", "1", "2"), later)
    assert (box.take(NOW), box.waiting) == (None, 1)
    box.offer(snapshot("a", "1", "2", "3"), later)
    assert box.take(NOW) is None
    assert box.take(later) == snapshot("a", "1", "2", "3")


def test_a_window_without_exchanges_withdraws_what_waits() -> None:
    box = Mailbox(1)
    box.offer(snapshot("a"))
    box.offer(snapshot("a", "1"))
    box.offer(snapshot("a"))
    assert (box.waiting, box.take(NOW)) == (0, None)
    box.offer(snapshot("a", "1"))
    box.take(NOW)
    box.offer(snapshot("a", "2"))
    box.offer(snapshot("a"))
    assert box.state(key_of(snapshot("a"))) is State.RUNNING
    box.release(snapshot("a"), snapshot("a"))
    assert (box.waiting, box.in_flight) == (0, 0)


def test_nothing_starts_after_the_stop_and_what_runs_may_finish() -> None:
    box = Mailbox(2)
    box.offer(snapshot("a", "1"))
    box.offer(snapshot("b", "1", project="q"))
    box.take(NOW)
    box.stop()
    assert box.take(NOW) is None
    box.finish(snapshot("a"))
    assert box.in_flight == 0


def test_every_state_can_be_left_and_the_figure_shows_every_transition() -> None:
    assert {state for state, _ in TRANSITIONS} == set(State)
    assert {event for _, event in TRANSITIONS} == set(Event)
    lines = figure().splitlines()
    assert lines[:2] == ["stateDiagram-v2", "    [*] --> idle"]
    assert len(lines) == 2 + len(TRANSITIONS)
    assert "    waiting --> running: take / start" in lines


class Mailboxes(RuleBasedStateMachine):
    """Sessions talk, runs begin and end; each prompt must come to exactly one closed run."""

    def __init__(self) -> None:
        super().__init__()
        self.box = Mailbox(2)
        self.said = 0
        self.open: dict[tuple[str, str], list[str]] = {}
        self.flying: dict[tuple[str, str], Snapshot] = {}
        self.closed: list[str] = []

    def window(self, where: tuple[str, str]) -> Snapshot:
        flying = self.flying.get(where)
        claimed = {each.key for each in flying.window.exchanges} if flying else set()
        return snapshot(where[0], *(key for key in self.open[where] if key not in claimed), project=where[1])

    @rule(session=st.sampled_from("abc"), project=st.sampled_from("xyz"))
    def say(self, session: str, project: str) -> None:
        self.said += 1
        self.open.setdefault((session, project), []).append(str(self.said))
        self.box.offer(self.window((session, project)))

    @rule(session=st.sampled_from("abc"), project=st.sampled_from("xyz"))
    def rewind(self, session: str, project: str) -> None:
        where = session, project
        if where in self.open and where not in self.flying and self.open[where]:
            self.closed.append(self.open[where].pop())
            self.box.offer(self.window(where))

    @rule()
    def take(self) -> None:
        taken = self.box.take(NOW)
        if taken is None:
            waiting = [where for where in self.open if self.window(where).window.exchanges]
            busy = {project for _, project in self.flying}
            assert len(self.flying) == 2 or all(project in busy for _, project in waiting)
        else:
            where = taken.window.session, taken.window.project.slug
            assert [each.key for each in taken.window.exchanges] == self.open[where]
            self.flying[where] = taken

    @rule(nth=st.integers(0, 1), closes=st.booleans())
    def end(self, nth: int, closes: bool) -> None:
        if not self.flying:
            return
        where = sorted(self.flying)[nth % len(self.flying)]
        taken = self.flying.pop(where)
        if closes:
            keys = [each.key for each in taken.window.exchanges]
            self.closed += keys
            self.open[where] = [key for key in self.open[where] if key not in keys]
            self.box.finish(taken)
        else:
            self.box.release(taken, self.window(where))

    @invariant()
    def bounds_hold(self) -> None:
        assert self.box.in_flight == len(self.flying) <= 2
        assert len({project for _, project in self.flying}) == len(self.flying)
        waiting = [where for where in self.open if self.window(where).window.exchanges]
        assert self.box.waiting == len(waiting)

    def teardown(self) -> None:
        while self.flying or self.box.waiting:
            self.take()
            self.end(0, closes=True)
        assert sorted(self.closed, key=int) == [str(nth) for nth in range(1, self.said + 1)]


TestMailboxes = Mailboxes.TestCase
TestMailboxes.settings = settings(max_examples=40, stateful_step_count=40)
