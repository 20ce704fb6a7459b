"""Says which transcripts were touched: as the system reports it, and by looking again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from pathlib import Path

from watchfiles import awatch

from extractord.core.transcripts.source import Container, Source

Touched = tuple[Source, str]
Stamp = tuple[int, int, int]

_DEBOUNCE_MS = 50
_STEP_MS = 25
"""Each step is a wake-up of an idle daemon: at 10 ms they took half of what it may use."""
_TICK_S = 1.0
_POLL_S = 2.0
_POLL_SHARE = 50
"""Polling rests this many times as long as a look took: at most a fiftieth of a core."""
_FLOOD = 4000
"""So many changes at once may have overrun the system's buffer: look at everything."""
_GONE: Stamp = (0, 0, 0)
_LOGS = ("-wal", "-journal")
_BESIDE = (*_LOGS, "-shm")
_FRESH_NS = 20_000_000
"""A file may change once more without a newer mtime: the clock of file systems ticks this slowly."""
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "9p", "afs", "ceph", "drvfs", "virtiofs", "vboxsf", "fuse.sshfs"}
)
"""File systems where what another machine writes is not reported here."""


def scan(source: Source, root: str) -> dict[str, Stamp]:
    """Given a source and one of its folders, return its transcripts with size, mtime in ns and inode.

    Oldest change first. Links are not followed, though the folder itself may be one. What vanishes
    meanwhile or cannot be looked at is left out.
    """
    return dict(sorted(_walk(source, root), key=lambda item: item[1][1]))


def _walk(source: Source, root: str) -> Iterator[tuple[str, Stamp]]:
    for path in _below(root, source, root):
        stamp = _stamp(source, path)
        if stamp != _GONE:
            yield path, stamp


def _below(folder: str, source: Source, root: str) -> Iterator[str]:
    """The transcripts in a folder of a source's root, however deep."""
    for above, _, files in os.walk(folder):
        for file in files:
            path = f"{above}/{file}"
            if source.belongs(path[len(root) + 1 :]):
                yield path


class Watch:
    """The folders of all sources; those that are not there yet are looked for every second."""

    def __init__(
        self,
        roots: Iterable[Touched],
        *,
        polling: bool,
        rescan_s: float,
        warn: Callable[[str], None],
        passed: Callable[[], None] = lambda: None,
    ) -> None:
        """Given each source with its folders, resolve links.

        `polling` looks every few seconds instead of asking the system; folders on network file
        systems are polled anyway. `rescan_s` is how often everything is looked at again. `warn` is
        called with a sentence where watching is slower than it should be; `passed` each time that
        the watch has gone round, at least every few seconds.
        """
        self._roots = tuple(dict.fromkeys((source, str(Path(root).resolve())) for source, root in roots))
        self._polling = polling
        self._rescan_s = rescan_s
        self._warn = warn
        self._passed = passed
        self._marks: dict[Touched, dict[str, int]] = {}
        """Of each root: its transcripts with a hash of their stamps, since there may be ten thousand."""
        self._databases: dict[Touched, Stamp] = {}

    async def touched(self, stop: asyncio.Event) -> AsyncGenerator[tuple[Touched, ...], None]:
        """Yield transcripts that changed, oldest change first; all of them at first; end at `stop`.

        One that is gone is yielded too.
        """
        while not stop.is_set():
            present = self._present()
            reported = {root for _, root in present if not self._is_polled(root)}
            looked, rest_s = 0.0, 0.0
            # What changes after the first look and before the system reports is looked for once more.
            is_reported = False
            async with aclosing(self._reported(reported, stop)) as reports:
                async for changed in reports:
                    self._passed()
                    is_flood = len(changed) > _FLOOD
                    touched = () if is_flood else await asyncio.to_thread(self._transcripts, changed)
                    if is_flood or not is_reported or time.monotonic() - looked >= rest_s:
                        is_reported = looked > 0
                        began = time.monotonic()
                        touched = tuple(dict.fromkeys((*await asyncio.to_thread(self._look), *touched)))
                        looked = time.monotonic()
                        is_slow = len(reported) < len({root for _, root in present})
                        rest_s = max(_POLL_S, _POLL_SHARE * (looked - began)) if is_slow else self._rescan_s
                    if touched:
                        yield touched
                    if reported & changed or self._present() != present:
                        break

    async def _reported(self, roots: set[str], stop: asyncio.Event) -> AsyncGenerator[set[str], None]:
        """Paths that the system reports, and an empty set at once and every second."""
        yield set()
        try:
            if roots:
                reports = awatch(
                    *sorted(roots),
                    watch_filter=None,
                    debounce=_DEBOUNCE_MS,
                    step=_STEP_MS,
                    stop_event=stop,
                    rust_timeout=int(_TICK_S * 1000),
                    yield_on_timeout=True,
                    force_polling=False,
                    ignore_permission_denied=True,
                )
                async with aclosing(reports):
                    async for changes in reports:
                        yield {path for _, path in changes}
                return
        except FileNotFoundError:
            pass
        except (OSError, RuntimeError) as error:
            self._polling = True
            self._warn(
                f"transcripts are polled: the system watches no more folders ({error}); "
                "raise fs.inotify.max_user_watches and max_user_instances with sysctl, then restart"
            )
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _TICK_S)
            yield set()
            if roots:
                return

    def _present(self) -> dict[Touched, tuple[int, int]]:
        """The folders that are there, and which: the system reports nothing of one in another's place.

        One that was deleted may come back with the number of the old one; its deletion is reported.
        """
        found: dict[Touched, tuple[int, int]] = {}
        for source, root in self._roots:
            with contextlib.suppress(OSError):
                state = Path(root).stat()
                if stat.S_ISDIR(state.st_mode):
                    found[source, root] = state.st_dev, state.st_ino
        return found

    def _is_polled(self, root: str) -> bool:
        return self._polling or _file_system(root) in _NETWORK

    def _look(self) -> list[Touched]:
        """Look at everything; what is not as it was the last time was touched, oldest change first."""
        changed: list[tuple[int, Source, str]] = []
        for source, root in self._roots:
            before, marks = self._marks.get((source, root), {}), {}
            for path, stamp in _walk(source, root):
                mark = marks[path] = hash(stamp)
                if before.pop(path, None) != mark:
                    changed.append((stamp[1], source, path))
            changed += [(_GONE[1], source, path) for path in before]
            self._marks[source, root] = marks
        return [(source, path) for _, source, path in sorted(changed, key=lambda each: each[0])]

    def _transcripts(self, paths: set[str]) -> tuple[Touched, ...]:
        """The transcripts among changed paths, and all those in changed folders."""
        found = dict.fromkeys(touched for path in sorted(paths) for touched in self._transcripts_at(path))
        return tuple(touched for touched in found if self._is_news(*touched))

    def _is_news(self, source: Source, path: str) -> bool:
        """False for a database whose content is as it was when it was last reported.

        SQLite as root gives a database's files to their owner each time that it opens them: that is
        reported, so that each reading would be the cause of the next.
        """
        if source.container(path) is not Container.ROWS:
            return True
        now = _stamp(source, path)
        before = self._databases.pop((source, path), None)
        if time.time_ns() - now[1] > _FRESH_NS:
            self._databases[source, path] = now
        return now != before

    def _transcripts_at(self, path: str) -> Iterator[Touched]:
        for ending in _BESIDE:
            path = path.removesuffix(ending)
        for source, root in self._roots:
            if not path.startswith(root + "/"):
                continue
            if source.belongs(path[len(root) + 1 :]):
                yield source, path
            elif Path(path).is_dir():
                yield from ((source, found) for found in _below(path, source, root))


def _stamp(source: Source, path: str) -> Stamp:
    """Size, mtime in ns and inode; of a database the newest mtime, its `-wal` and `-journal` included."""
    try:
        state = os.stat(path)  # noqa: PTH116 - ten thousand of them
    except OSError:
        return _GONE
    written = state.st_mtime_ns
    if source.container(path) is Container.ROWS:
        for ending in _LOGS:
            with contextlib.suppress(OSError):
                written = max(written, os.stat(path + ending).st_mtime_ns)  # noqa: PTH116 - as above
    return state.st_size, written, state.st_ino


def _file_system(path: str) -> str:
    """The type of the file system that a path is on; empty where the platform does not say."""
    if sys.platform != "linux":
        return ""
    best = "", ""
    for line in (
        Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    ):
        fields, _, rest = line.partition(" - ")
        place = fields.split()[4].encode().decode("unicode_escape").rstrip("/")
        if (path == place or path.startswith(place + "/")) and len(place) >= len(best[0]):
            best = place, rest.split()[0]
    return best[1]
