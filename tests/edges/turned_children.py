"""Run as the process that starts the others: children that do what the session of their brief says."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence

from extractord.core.records import Change, Conversation, Ending, Evidence, Message, Refusal, Reply, Tool
from extractord.core.wire import Answer, Ask, Done, Failed, Refused, Said, Start, frame
from extractord.edges.child import Pipes
from extractord.edges.confine import end_with_parent
from extractord.edges.processes.server import serve
from extractord.policy.requests import RootKind


def change(path: str = "a.md", text: str | None = "fact", quotes: int = 0) -> Change:
    said = Evidence(entry="e1", quote="never said by anyone")
    return Change(root=RootKind.PROJECT, path=path, text=text, evidence=(said,) * quotes)


def done(*changes: Change, ending: Ending = Ending.FINISHED, reason: str = "") -> Done:
    return Done(conversation=Conversation(ending=ending, changes=changes, turns=10**9, reason=reason))


def refused(path: str, rule: str = "root", tool: str = "Read") -> Refused:
    return Refused(refusal=Refusal(tool=tool, path=path, verdict="deny", rule=rule, reason="the person said"))


HANDED: dict[str, Said] = {
    "honest": done(change(), reason="the person said so"),
    "many changes": done(*(change(f"{n}.md") for n in range(51))),
    "one path twice": done(change(), change(text="another")),
    "a long text": done(change(text="n" * (64 * 1024 + 1))),
    "much new text": done(*(change(f"{n}.md", "n" * 64 * 1024) for n in range(17))),
    "a long path": done(change("n" * 2000)),
    "many quotes": done(change(quotes=1001)),
    "its own failure": done(ending=Ending.FAILED, reason="the person said"),
    "an answer": Answer(id=1, reply=Reply(text="the person said")),
    "a fault": Failed(kind="ValueError", module="memory", line=7),
    "words as a fault": Failed(kind="The person said", module="memory", line=7),
}
RAW = {
    "an endless frame": (2**31).to_bytes(4, "big"),
    "garbage": b"\0\0\0\4\xc1\xc1\xc1\xc1",
    "an empty frame": b"\0\0\0\0",
    "half a frame": frame(done())[:-3],
    "nothing": b"",
    "a frame without a bottom": (100_013).to_bytes(4, "big")
    + b"\x82\xa4type\xa4done\xa1x"
    + b"\x91" * 100_000
    + b"\x90",
}


def child(incoming: int, outgoing: int, _roots: Sequence[int]) -> None:
    pipes = Pipes(incoming, outgoing)
    start = pipes.hear()
    assert isinstance(start, Start)
    what = start.brief.session
    pipes.say(refused(f"/{os.getpid()}"))
    if what in HANDED:
        pipes.say(HANDED[what])
    elif what in RAW:
        os.write(outgoing, RAW[what])
    elif what == "hangs":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    elif what == "works for ever":
        while True:
            pass
    elif what == "dribbles":
        while True:
            os.write(outgoing, b"\0")
            os.write(outgoing, frame(refused("/x"))[1:2])
            time.sleep(600)
    elif what == "has a child of its own":
        if os.fork() == 0:
            pipes.say(refused(f"/{os.getpid()}"))
        time.sleep(600)
    elif what == "refuses for ever":
        many = frame(refused("/x " + "y" * 1000)) * 200
        while True:
            os.write(outgoing, many)
    elif what == "tells much of refusals":
        pipes.say(refused("We deploy only on Tuesdays because the warehouse counts stock", "a rule!", "a b"))
        pipes.say(refused("/memory/project/" + "AKIA" + "Q3ZZ7PWN5MXR4TUV.md", "secret-name", "Write"))
        pipes.say(refused("/memory/project/" + "n" * 10**6))
        pipes.say(done())
    elif what == "asks too often":
        for number in range(10):
            pipes.say(Ask(id=number, messages=(Message(role="user"),), tools=()))
            pipes.hear()
    elif what == "asks much":
        tool = Tool(name="t", description="", parameters={"x": [[]] * 10**6})
        pipes.say(Ask(id=1, messages=(Message(role="user"),) * 10**6, tools=(tool,)))
        pipes.hear()
        pipes.say(done())


serve(int(sys.argv[-1]), child, lambda _command: False, end_with_parent)
