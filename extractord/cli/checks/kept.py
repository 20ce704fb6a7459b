"""Checks of what is kept: memories and their indexes, the ledger, the audit, projects, room on the disk."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator

from extractord.cli.checks.finding import Finding, Patient, fail, ok, warn
from extractord.cli.listing import counted
from extractord.cli.looking import looked_at
from extractord.cli.projects import listed as listed_projects
from extractord.config.usable import folder_fault
from extractord.core.index import derive
from extractord.core.index import target as indexed
from extractord.edges.ledger import Ledger
from extractord.edges.state import owner_of
from extractord.edges.store.roots import listed
from extractord.errors import ConfigError, DamagedLedgerError, LedgerError, StoreError

_SHOWN = 5
_LITTLE_BYTES = 1024**3
_NOTHING_BYTES = 64 * 1024**2
_OLD_S = 3600.0


def memory(patient: Patient) -> Iterator[Finding]:
    """Whether the memory directory is this state's, and nobody else's to write."""
    place, state = patient.settings.memory_dir, patient.settings.state_dir
    if not place.exists():
        yield ok(f"{place} is made with the first start")
        return
    found = place.stat()
    if found.st_uid != os.geteuid():
        yield fail(
            f"{place} belongs to another user (uid {found.st_uid})", "set memory.dir to a place of your own"
        )
        return
    if found.st_mode & 0o077:
        yield warn(f"{place} can be read by others", f"`chmod 700 {place}`")
    try:
        ours, theirs = owner_of(state, place)
    except (ConfigError, StoreError) as error:
        yield fail(str(error), "put it back from a backup")
        return
    if theirs and ours != theirs:
        yield fail(
            f"{place} belongs to the state {theirs[:8]}, and {state} is {ours[:8] or 'new'}",
            "`extractord project adopt` makes it this one's",
        )
    else:
        yield ok(f"{place} belongs to {state}")


def index(patient: Patient) -> Iterator[Finding]:
    """Whether each index names the files that there are."""
    good = 0
    with looked_at(patient.settings) as (roots, names, _):
        for root in names:
            try:
                rows, text = roots.survey(root), roots.index(root)
            except StoreError as error:
                yield fail(str(error), "see that it is a directory of this user's own")
                continue
            for row in [row for row in rows if row.fault][:_SHOWN]:
                yield warn(f"{root}: {row.fault}", "repair the file, or `extractord memories forget` it")
            if text is None:
                yield warn(f"{root}: its index cannot be used", "look at its MEMORY.md, and move it away")
            elif derive(text, listed(rows)) != text:
                paths = {row.path for row in rows}
                lost = sum(indexed(line, paths) is None for line in text.splitlines())
                yield warn(
                    f"{root}: its index does not fit its {len(rows):,} files ({lost} lines have none)",
                    "the daemon repairs it when it looks next (run.rescan_s), or at its start",
                )
            else:
                good += 1
    if good:
        yield ok(f"each of {good:,} names the files that there are")
    elif not names:
        yield ok("there are no memories yet")


def ledger(patient: Patient) -> Iterator[Finding]:
    """Whether the whole file is sound, and where damaged ones are kept."""
    state = patient.settings.state_dir
    try:
        with Ledger.open(state, readonly=True) as opened:
            opened.check()
            is_there = (state / "ledger.db").exists()
    except DamagedLedgerError as error:
        yield fail(str(error), 'see docs/operating.md, "The ledger is damaged"')
    except LedgerError as error:
        yield fail(str(error), 'see docs/operating.md, "Upgrade" and "Troubleshoot"')
    else:
        yield ok(f"{state / 'ledger.db'} is {'sound' if is_there else 'made with the first start'}")
    for aside in sorted(state.glob("ledger.db.damaged-*"))[:_SHOWN]:
        if aside.suffix not in ("-wal", "-shm"):
            yield warn(f"{aside} was set aside as damaged", "remove it when nothing of it is wanted")


def audit(patient: Patient) -> Iterator[Finding]:
    """Whether the chain of the audit holds."""
    opened = patient.ledger
    try:
        rows = opened.audit.verify()
    except DamagedLedgerError:  # the file is, and nobody knows of the chain
        raise
    except LedgerError as error:
        yield fail(str(error), "compare with the head in the daemon's log (`audit=`); restore a backup")
    else:
        yield ok(f"{rows:,} rows, unbroken")


def projects(patient: Patient) -> Iterator[Finding]:
    """Projects whose directory is gone, and memories of no project that is known."""
    rows = [row for row in listed_projects(patient.settings) if row.memories]
    for row in [row for row in rows if row.gone and not row.excluded][:_SHOWN]:
        yield warn(
            f"{row.project}: its directory {row.directory} is gone",
            f"`extractord project move {row.project} NEW` where it was moved",
        )
    for row in [row for row in rows if not row.directory][:_SHOWN]:
        yield warn(
            f"{row.project}: {row.memories} memories of no known session",
            f"`extractord project move {row.project} DIRECTORY` gives them a project again",
        )
    if not any(row.gone or not row.directory for row in rows):
        yield ok(
            f"{counted(len(rows), 'project')} with memories, each where it was"
            if rows
            else "none has memories yet"
        )


def orphans(patient: Patient) -> Iterator[Finding]:
    """What a crash left among the memories."""
    place = patient.settings.memory_dir
    before = time.time() - _OLD_S
    left = (
        [path for path in place.rglob(".tmp-*") if path.lstat().st_mtime < before] if place.is_dir() else []
    )
    if left:
        yield warn(
            f"{len(left)} temporary files of a crash, {left[0]} first", "start the daemon: it sweeps them"
        )
    else:
        yield ok("nothing is left of a crash")


def disk(patient: Patient) -> Iterator[Finding]:
    """Room for memories and ledger."""
    seen = set()
    for place in (patient.settings.memory_dir, patient.settings.state_dir):
        there = next(each for each in (place, *place.parents) if each.exists())
        device = there.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        free = shutil.disk_usage(there).free
        says = f"{free / 1024**3:,.1f} GiB free for {place}"
        if free < _NOTHING_BYTES:
            yield fail(says, "make room: nothing can be written")
        elif free < _LITTLE_BYTES:
            yield warn(says, "make room")
        else:
            yield ok(says)


def writable(patient: Patient) -> Iterator[Finding]:
    """Whether this user may write where it has to."""
    places = {"`memory.dir`": patient.settings.memory_dir, "the state directory": patient.settings.state_dir}
    faults = [fault for name, place in places.items() if (fault := folder_fault(name, place))]
    for fault in faults:
        says, _, remedy = fault.rpartition(": ")
        yield fail(says, remedy)
    if not faults:
        yield ok("memories and state can be written")
