import random
from pathlib import Path

import pytest
from storing import PROJECT, SHOP_ROOT, USER, House, fact, said

from extractord.core.changeset import INDEX
from extractord.core.digesting import digest
from extractord.core.records import Change, Evidence, Outcome
from extractord.core.versions import Current
from extractord.edges import folder as disk
from extractord.edges.store import Keeping
from extractord.policy.requests import RootKind

RUNS = 200
TOPICS = ("deploys", "indents", "reviews", "branches", "licences", "caches", "queues", "fonts")
_ROOTS = {PROJECT: SHOP_ROOT, USER: "user"}
Texts = dict[tuple[str, str], bytes]


def texts(house: House) -> Texts:
    return {
        (root, path): folder.read(path, 1 << 20)
        for root, folder in house.opened.items()
        for path in folder.names()
        if path != INDEX
    }


def standing(house: House) -> dict[tuple[str, str], Current]:
    return {
        (root, path): known
        for root in house.folders
        for path, known in house.ledger.versions.current(root).items()
    }


def run(house: House, chance: random.Random, number: int) -> str | None:
    """A run that writes and removes; its id where it saved anything."""
    topics = chance.sample(TOPICS, chance.randint(1, 3))
    words = f"By plan {number} these are settled and some are gone: {', '.join(topics)}"
    changes, there = [], texts(house)
    for topic in topics:
        kind: RootKind = chance.choice((PROJECT, USER))
        raw = there.get((_ROOTS[kind], f"{topic}.md"))
        is_gone = raw is not None and chance.random() < 0.2
        text = fact(topic, f"{topic} are settled by plan {number}", "user" if kind is USER else "project")
        changes.append(
            Change(
                root=kind,
                path=f"{topic}.md",
                text=None if is_gone else text,
                base=None if raw is None else digest(raw),
                evidence=(Evidence(entry="e1", quote=words),),
            )
        )
    context = house.context(said("e1", words, at=house.now))
    return context.run if house.store.commit(changes, context).outcome is Outcome.SAVED else None


@pytest.fixture(params=["dictionaries", "disk"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> House:
    tmp_path.chmod(0o700)
    made = House(tmp_path)
    if request.param == "disk":
        (tmp_path / "projects").mkdir(mode=0o700)
        for root in made.folders:
            made.opened[root] = disk.Folder.create(tmp_path / root, tmp_path)
        made.reopen()
    return made


def test_undo_in_a_random_sequence_of_runs_restores_exactly_or_lists_its_conflicts(house: House) -> None:
    chance = random.Random(7)  # noqa: S311 - a sequence that can be had again
    keeping = Keeping(house.store)
    befores: dict[str, Texts] = {}
    afters: dict[str, Texts] = {}
    standings: dict[str, dict[tuple[str, str], Current]] = {}
    restored = conflicts = 0
    for number in range(RUNS):
        before, stood = texts(house), standing(house)
        ran = run(house, chance, number)
        if ran is not None:
            befores[ran], afters[ran], standings[ran] = before, texts(house), stood
        if not befores or chance.random() < 0.5:
            continue
        undone = chance.choice([*befores][-4:])
        before, after, now = befores.pop(undone), afters.pop(undone), texts(house)
        changed = {place for place in {*before, *after} if before.get(place) != after.get(place)}
        came = keeping.undo(undone)
        expected = {place for place in changed if now.get(place) != after.get(place)}
        assert set(came.conflicts) == {f"{root}/{path}" for root, path in expected}
        if came.conflicts:
            conflicts += 1
            assert texts(house) == now
        else:
            restored += 1
            stood = {place: known for place, known in standings[undone].items() if place in changed}
            assert {place: known for place, known in standing(house).items() if place in changed} == stood
            wanted = {**now, **{place: before[place] for place in changed if place in before}}
            assert texts(house) == {
                place: raw for place, raw in wanted.items() if place not in changed or place in before
            }
    assert restored > RUNS / 20
    assert conflicts > RUNS / 20
    house.ledger.audit.verify()
