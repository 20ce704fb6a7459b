"""What a child does: it gives up its rights, hears what its run starts with, and holds the conversation."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence

from extractord.agent.heuristic import Heuristic
from extractord.agent.loop import converse
from extractord.agent.prompts import Prompts, load
from extractord.agent.tools import Tools
from extractord.core.ports import Model
from extractord.core.records import Conversation
from extractord.core.wire import Done, Probe, Probed, Refused, Start, WireError
from extractord.edges.child import PipedModel, Pipes
from extractord.edges.confine import confine_child, end_with_parent
from extractord.edges.confine.trial import what_succeeds
from extractord.edges.folder import Folder, FolderView
from extractord.policy.requests import RootKind


def prepare(*, confined: bool) -> Callable[[int, int, Sequence[int]], None]:
    """Before the first fork: load what a confined child could not, and return what it does."""
    prompts = load()
    return lambda incoming, outgoing, roots: _hold(prompts, incoming, outgoing, roots, confined=confined)


def _hold(prompts: Prompts, incoming: int, outgoing: int, roots: Sequence[int], *, confined: bool) -> None:
    """In the child: given its pipes and its roots (the user's, then the project's), hold one conversation."""
    end_with_parent()
    level = confine_child(roots, [incoming, outgoing]) if confined else "none"
    pipes = Pipes(incoming, outgoing)
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
    raise WireError("a conversation waited for an event loop, which a child has not")
