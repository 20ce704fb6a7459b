"""The conversation with the sub-agent's model: ask, apply each call, answer; at most five turns.

A request is the messages so far; a reply is text and calls. Every way out is an `Ending`:

    Finish among the calls        FINISHED
    plain text                    SAID
    a claim without a call        answered once, then NO_CALL
    the last turn was used        TURNS

ModelError passes through; the child's own faults are `Ending.FAILED`, said by who watches it.
"""

from __future__ import annotations

from extractord.agent.catalogue import CATALOGUE, unwrap
from extractord.agent.claim import claims_save
from extractord.agent.prompts import Prompts
from extractord.agent.tools import Tools
from extractord.core.ports import Model
from extractord.core.records import Brief, Call, Conversation, Ending, Message, Reply

TURNS = 5
CALLS_A_TURN = 32
"""More calls in one reply are refused unread."""
TEXT_CHARACTERS = 4000
"""So much of a reply's own text is sent back to the model."""
NAME_CHARACTERS = 200
"""So much of a call's name and id is kept."""


async def converse(
    model: Model, tools: Tools, brief: Brief, prompts: Prompts, *, turns: int = TURNS
) -> Conversation:
    """Given a brief, hold the conversation and return how it ended and what it would change.

    `turns` is the number of requests at most, at least 1. Raise ModelError where a reply cannot
    be had.
    """
    messages = list(brief.messages)
    warned = False
    for turn in range(1, turns + 1):
        if turn == turns:
            messages.append(Message(role="user", content=prompts.last_turn))
        reply = await model.complete(tuple(messages), CATALOGUE)
        calls = tuple(_kept(call) for call in reply.calls[:CALLS_A_TURN])
        messages.append(Message(role="assistant", content=reply.text[:TEXT_CHARACTERS], calls=calls))
        if calls:
            answers, finished = _answers(tools, reply, calls)
            if finished:
                return tools.conversation(Ending.FINISHED, turn)
            messages += answers
        elif not _owes_a_call(reply, tools):
            return tools.conversation(Ending.SAID, turn)
        elif warned or turn == turns:
            return tools.conversation(Ending.NO_CALL, turn)
        else:
            warned = True
            messages.append(Message(role="user", content=prompts.no_call))
    return tools.conversation(Ending.TURNS, turns)


def _answers(tools: Tools, reply: Reply, calls: tuple[Call, ...]) -> tuple[list[Message], bool]:
    """Given a reply and its first calls, apply each up to Finish; return the answers and whether it came."""
    answers: list[Message] = []
    finished = False
    for number, call in enumerate(reply.calls):
        if finished:
            tools.refuse(call, "after-finish", "Finish ended the run: nothing is done after it.")
        elif number >= CALLS_A_TURN:
            tools.refuse(call, "calls-a-turn", f"At most {CALLS_A_TURN} calls in one reply are done.")
        elif call.name == "Finish":
            finished = True
        else:
            answers.append(Message(role="tool", call_id=calls[number].id, content=tools.apply(call)))
    if len(reply.calls) > CALLS_A_TURN and answers:
        note = (
            f"\nOf {len(reply.calls)} calls only the first {CALLS_A_TURN} were done; make the others again."
        )
        answers[-1] = Message(role="tool", call_id=answers[-1].call_id, content=answers[-1].content + note)
    return answers, finished


def _owes_a_call(reply: Reply, tools: Tools) -> bool:
    """True if a reply without calls cannot be the end: cut short, or a claim that nothing bears out."""
    return reply.truncated or (not tools.asked_to_change and claims_save(reply.text))


def _kept(call: Call) -> Call:
    """Given a call, return what the model is shown of it afterwards: short, and valid JSON."""
    arguments = unwrap(call.arguments) or "{}"
    return Call(id=call.id[:NAME_CHARACTERS], name=call.name[:NAME_CHARACTERS], arguments=arguments)
