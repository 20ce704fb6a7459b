"""What the process that starts the others does, and a child: it gives up its rights and converses."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Coroutine, Sequence
from pathlib import Path

from extractord.agent.heuristic import Heuristic
from extractord.agent.loop import converse
from extractord.agent.prompts import Prompts, load
from extractord.agent.tools import Tools
from extractord.core.ports import Model
from extractord.core.records import Conversation
from extractord.core.wire import Done, Failed, Probe, Probed, Refused, Start, WireError
from extractord.edges.child import PipedModel, Pipes
from extractord.edges.confine import confine_child, confine_server, end_with_parent
from extractord.edges.confine.trial import what_succeeds
from extractord.edges.folder import Folder, FolderView
from extractord.edges.processes.server import serve
from extractord.policy.requests import RootKind


def start_others(control: int, confinement: str) -> None:
    """In the process that starts the others: give up all writing, then serve its control socket.

    Everything that a confined child could not load is loaded first.
    """
    prompts, confined = load(), confinement != "off"
    if confined:
        confine_server()

    def child(incoming: int, outgoing: int, roots: Sequence[int]) -> None:
        _be_child(prompts, incoming, outgoing, roots, confined=confined)

    serve(control, child, _is_model_host, end_with_parent)


def _is_model_host(command: Sequence[str]) -> bool:
    match command:
        case [sys.executable, *options, "_modelhost", _, _]:
            return options in (["-P", "-m", "extractord"], ["-m", "extractord"])
        case _:
            return False


def _be_child(
    prompts: Prompts, incoming: int, outgoing: int, roots: Sequence[int], *, confined: bool
) -> None:
    """In the child: given its pipes and its roots (the user's, then the project's), hold one conversation.

    What goes wrong is told by its kind and place: the words of an error may be the transcript's.
    """
    _silence()
    pipes = Pipes(incoming, outgoing)
    try:
        level = confine_child(roots, [incoming, outgoing]) if confined else "none"
        _hold(prompts, pipes, roots, level)
    except Exception as error:  # noqa: BLE001 - whatever it is, the daemon logs where it was
        last = traceback.extract_tb(error.__traceback__)[-1]
        pipes.say(Failed(kind=type(error).__name__, module=Path(last.filename).stem, line=last.lineno or 0))


def _silence() -> None:
    """The daemon's log is no place for what a child may say."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stderr.fileno())
    os.close(null)


def _hold(prompts: Prompts, pipes: Pipes, roots: Sequence[int], level: str) -> None:
    match pipes.hear():
        case Start() as start:
            conversation = _conversation(prompts, pipes, start, roots)
            pipes.say(Done(conversation=conversation))
        case Probe(forbidden=forbidden):
            pipes.say(Probed(level=level, succeeded=what_succeeds(roots, forbidden)))
        case said:
            raise WireError(f"the daemon began with a {type(said).__name__}")


def _conversation(prompts: Prompts, pipes: Pipes, start: Start, roots: Sequence[int]) -> Conversation:
    folders = dict(zip(RootKind, map(Folder.from_fd, roots), strict=False))
    tools = Tools(
        FolderView(folders),
        start.brief.shown,
        start.known,
        has_project=start.has_project,
        say=lambda refusal: pipes.say(Refused(refusal=refusal)),
    )
    model: Model = Heuristic(has_project=start.has_project) if start.embedded else PipedModel(pipes)
    return _driven(converse(model, tools, start.brief, prompts, turns=start.turns))


def _driven(conversation: Coroutine[None, None, Conversation]) -> Conversation:
    """Run to its end a coroutine that never waits: an event loop wants sockets, a child has none."""
    try:
        conversation.send(None)
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]
    raise WireError("a conversation waited for an event loop, which a child does not have")
