"""A broker that is away for ten minutes while a day's work goes on; `python tests/absent.py`."""

from __future__ import annotations

import argparse
import json
import signal
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from broking import Mosquitto, Subscriber
from living import Place

SAID = "extractord/v1/here/said/#"
FINISHED = "extractord/v1/here/said/run/finished"
_BACK_S = 180.0
_ROOM = ("persistence true", "max_queued_messages 0")
_RIGHTS = {"here": "topic readwrite extractord/#", "watcher": "topic read #"}


class Came(NamedTuple):
    """What became of the events of the absence."""

    away_s: float
    sessions: int
    finished: int
    """Events of runs that the subscriber heard, each run once."""
    again: int
    """Heard more than once."""
    in_order: bool
    waiting: int
    """Events that waited when the broker came back."""
    dropped: int
    back_s: float
    """From the broker's return to the last of them."""


def absence(folder: Path, away_s: float, every_s: float) -> Came:
    """Kill the broker, let a session begin every so often, start it again; count what is heard."""
    unlimited = {f"EXTRACTORD_BUDGET__DAY_{what}": "unlimited" for what in ("REQUESTS", "TOKENS")}
    desk = Place(folder / "home", **unlimited)
    with ExitStack() as stack:
        broker = stack.enter_context(Mosquitto(folder / "broker", users=_RIGHTS, tls=True, more=_ROOM))
        desk.environ |= broker.settings("here")
        stack.enter_context(desk.running())
        desk.wait_for(lambda: "the broker is there" in desk.log(), 20)
        broker.stop(signal.SIGKILL)
        gone = time.monotonic()
        names: list[str] = []
        while (past := time.monotonic() - gone) < away_s:
            names.append(f"{len(names):08x}-0000-4000-8000-000000000001")
            desk.said(f"We call server number {len(names)} of the shop heron.", names[-1])
            time.sleep(min(every_s, max(away_s - past, 0)))
        desk.wait_for(lambda: desk.log().count("event=run/finished") >= len(names), 60)
        waiting = json.loads(desk.command("status", "--json").stdout)["bus"]
        away = time.monotonic() - gone
        broker.start()
        with broker.heard(SAID, user="watcher") as heard:
            back = time.monotonic()
            heard.wait_for(lambda: len(_sessions(heard)) >= len(names), _BACK_S)
            back_s = time.monotonic() - back
        sessions = [json.loads(payload)["row"]["session"] for payload in heard.on(FINISHED)]
    return Came(
        away_s=round(away, 1),
        sessions=len(names),
        finished=len(set(sessions)),
        again=len(sessions) - len(set(sessions)),
        in_order=list(dict.fromkeys(sessions)) == names,
        waiting=waiting["waiting"],
        dropped=waiting["dropped"],
        back_s=round(back_s, 1),
    )


def _sessions(heard: Subscriber) -> set[str]:
    return {json.loads(payload)["row"]["session"] for payload in heard.on(FINISHED)}


def main() -> int:
    """Let a broker be away; say what became of the events."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--away", type=float, default=600.0, help="seconds")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between sessions")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="absent-") as name:
        came = absence(Path(name), asked.away, asked.every)
    print(json.dumps(came._asdict()))
    return 0 if came.finished == came.sessions and not came.dropped else 1


if __name__ == "__main__":
    raise SystemExit(main())
