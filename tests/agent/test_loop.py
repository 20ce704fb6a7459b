from __future__ import annotations

import json

import pytest
from agent.setting import BRIEF, DEPLOY, FINISH, QUOTED, SHOWN, call, reply, write
from doubles import DictView, ScriptedModel

from extractord.agent.catalogue import CATALOGUE
from extractord.agent.loop import CALLS_A_TURN, converse
from extractord.agent.prompts import load
from extractord.agent.tools import Tools
from extractord.core.records import Call, Change, Conversation, Ending, Message, Refusal, Reply
from extractord.errors import ModelError
from extractord.policy.requests import RootKind

PROMPTS = load()
WRITTEN = Change(
    root=RootKind.PROJECT, path="deploys-on-tuesdays.md", text=DEPLOY, base=None, evidence=(QUOTED,)
)
LOOK = call("Glob", pattern="/memory/**/*.md")


async def hold(model: ScriptedModel, turns: int = 5) -> Conversation:
    return await converse(model, Tools(DictView(), SHOWN, []), BRIEF, PROMPTS, turns=turns)


async def test_a_write_and_finish_in_one_reply_end_the_run_with_one_request() -> None:
    model = ScriptedModel(reply(write(), FINISH))
    assert await hold(model) == Conversation(ending=Ending.FINISHED, changes=(WRITTEN,), turns=1)
    assert model.asked == [BRIEF.messages]
    assert model.tools == CATALOGUE


async def test_finish_alone_is_the_usual_end_of_nothing_to_save() -> None:
    assert await hold(ScriptedModel(reply(FINISH))) == Conversation(ending=Ending.FINISHED, turns=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing to save.",
        "There is nothing here that was not saved already.",
        "No memory was written.",
        "Nichts gespeichert.",
        "没有需要保存的内容。",
        "The person said thanks.",
    ],
)
async def test_plain_text_that_claims_nothing_ends_the_run(text: str) -> None:
    assert await hold(ScriptedModel(reply(text=text))) == Conversation(ending=Ending.SAID, turns=1)


CLAIMS = [
    "I've saved the deploy day.",
    "Saved to /memory/project/x.md",
    "I will now write the memory.",
    '<tool_call>{"name": "Write"}</tool_call>',
    '```json\n{"name": "Write", "arguments": {}}\n```',
    "Write(file_path='/memory/user/x.md')",
    "rm /memory/user/x.md",
    "Ich habe es gespeichert.",
    "已保存。",
    "記録しました。",
]


@pytest.mark.parametrize("text", CLAIMS)
async def test_a_claim_without_a_call_is_answered_once_and_then_ends_as_no_call(text: str) -> None:
    model = ScriptedModel(reply(text=text), reply(text=text))
    assert await hold(model) == Conversation(ending=Ending.NO_CALL, turns=2)
    assert model.asked[1] == (
        *BRIEF.messages,
        Message(role="assistant", content=text),
        Message(role="user", content=PROMPTS.no_call),
    )


async def test_after_the_answer_a_call_still_counts() -> None:
    model = ScriptedModel(reply(text="Saved it."), reply(write(), FINISH))
    assert await hold(model) == Conversation(ending=Ending.FINISHED, changes=(WRITTEN,), turns=2)


async def test_after_the_answer_nothing_to_save_is_still_an_end() -> None:
    model = ScriptedModel(reply(text="Saved it."), reply(text="There is nothing to save."))
    assert await hold(model) == Conversation(ending=Ending.SAID, turns=2)


async def test_a_claim_that_a_write_bears_out_is_the_end() -> None:
    model = ScriptedModel(reply(write()), reply(text="Saved the deploy day."))
    assert await hold(model) == Conversation(ending=Ending.SAID, changes=(WRITTEN,), turns=2)


async def test_a_claim_on_the_last_turn_has_no_other_turn_to_make_good() -> None:
    model = ScriptedModel(reply(text="Saved it."))
    assert await hold(model, turns=1) == Conversation(ending=Ending.NO_CALL, turns=1)


async def test_a_text_cut_by_the_provider_is_no_end() -> None:
    model = ScriptedModel(reply(text="I looked at", truncated=True), reply(FINISH))
    assert await hold(model) == Conversation(ending=Ending.FINISHED, turns=2)


async def test_the_last_turn_is_announced_and_then_it_is_over() -> None:
    model = ScriptedModel(*[reply(LOOK)] * 4, reply(write()))
    assert await hold(model) == Conversation(ending=Ending.TURNS, changes=(WRITTEN,), turns=5)
    announced = [Message(role="user", content=PROMPTS.last_turn) in asked for asked in model.asked]
    assert announced == [False, False, False, False, True]


async def test_each_call_gets_its_answer_in_order() -> None:
    first, second = (Call(id=name, name="Glob", arguments=LOOK.arguments) for name in ("a", "b"))
    model = ScriptedModel(reply(first, second), reply(FINISH))
    await hold(model)
    assert model.asked[1] == (
        *BRIEF.messages,
        Message(role="assistant", calls=(first, second)),
        Message(role="tool", call_id="a", content="No memory matches."),
        Message(role="tool", call_id="b", content="No memory matches."),
    )


async def test_calls_after_finish_are_not_run_but_counted() -> None:
    model = ScriptedModel(reply(FINISH, write(), write()))
    late = Refusal(
        tool="Write",
        path="",
        verdict="deny",
        rule="after-finish",
        reason="Finish ended the run: nothing is done after it.",
    )
    assert await hold(model) == Conversation(ending=Ending.FINISHED, refusals=(late, late), denied=2, turns=1)


async def test_of_a_flood_of_calls_only_the_first_are_done_and_kept() -> None:
    model = ScriptedModel(reply(*[LOOK] * 5000), reply(FINISH))
    conversation = await hold(model)
    assert conversation.denied == 5000 - CALLS_A_TURN
    assert len(conversation.refusals) == 200
    assert [len(message.calls) for message in model.asked[1]] == [0, 0, CALLS_A_TURN, *[0] * CALLS_A_TURN]
    assert "only the first 32 were done" in model.asked[1][-1].content


async def test_what_the_model_is_shown_of_its_own_reply_is_short_and_valid_json() -> None:
    calls = (
        Call(id="i" * 1000, name="n" * 1000, arguments="{}"),
        Call(id="2", name="Write", arguments='{"content": "' + "x" * 10_000_000 + '"}'),
        Call(id="3", name="Write", arguments="{not json"),
        Call(id="4", name="Read", arguments=json.dumps('{"file_path": "/memory/user/x.md"}')),
    )
    model = ScriptedModel(Reply(text="t" * 1_000_000, calls=calls), reply(FINISH))
    await hold(model)
    shown = model.asked[1][2]
    assert len(shown.content) == 4000
    assert [(len(call.id), len(call.name), call.arguments) for call in shown.calls] == [
        (200, 200, "{}"),
        (1, 5, "{}"),
        (1, 5, "{}"),
        (1, 4, '{"file_path": "/memory/user/x.md"}'),
    ]


async def test_what_the_provider_does_passes_through() -> None:
    with pytest.raises(ModelError, match="no money"):
        await hold(ScriptedModel(ModelError("no money", fault="quota")))
