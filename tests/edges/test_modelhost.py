"""The model host over real HTTP: every way in which a provider answers, or does not."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from aiohttp import web
from standin import StandIn, anthropic_reply, openai_reply, serving

from extractord.core.records import Call, Message, Reply, Tool, Usage
from extractord.core.wire import Provider
from extractord.edges.modelhost import ModelHost
from extractord.edges.processes import Processes
from extractord.errors import ModelError

pytestmark = pytest.mark.asyncio(loop_scope="module")

OURSELVES = (sys.executable, "-m", "extractord")
TOOL = Tool(
    name="Finish",
    description="End.",
    parameters={"type": "object", "properties": {"why": {"type": "string"}}},
)


def script(body: Mapping[str, Any], before: int) -> Any:
    """The whole of this provider's repertoire; a test asks for a piece of it by name."""
    match StandIn.case(body):
        case "tool":
            return openai_reply(calls=(("Finish", '{"why": "done"}'),))
        case "malformed":
            return openai_reply(calls=(("Finish", '{"why": '),))
        case "pretends":
            return openai_reply("I have called Finish(why='done').")
        case "429":
            if before == 0:
                return web.json_response(
                    {"error": {"message": "slow down", "type": "rate_limit"}},
                    status=429,
                    headers={"Retry-After": "1"},
                )
            return openai_reply("after the wait")
        case "429 tomorrow":
            return web.json_response(
                {"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "86400"}
            )
        case "quota":
            return web.json_response(
                {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
                status=429,
            )
        case "500":
            return web.json_response({"error": {"message": "oops"}}, status=500)
        case "500 once":
            if before == 0:
                return web.json_response({"error": {"message": "oops"}}, status=500)
            return openai_reply("second time")
        case "401":
            return web.json_response({"error": {"message": "bad key"}}, status=401)
        case "too long":
            return web.json_response(
                {
                    "error": {
                        "message": "This model's maximum context length is 8192 tokens",
                        "code": "context_length_exceeded",
                    }
                },
                status=400,
            )
        case "spoken":
            return openai_reply("Prompt is too long")
        case "never":
            return "never"
        case "cut":
            return "cut"
    raise AssertionError(body)


@contextlib.asynccontextmanager
async def host(
    url: str, model: str, environ: Mapping[str, str], *, timeout_s: float = 60, **given: Any
) -> AsyncIterator[ModelHost]:
    provider = Provider(model=model, base_url=url, timeout_s=timeout_s, retries=1, **given)
    processes = Processes([*OURSELVES, "_processes", "required"])
    running = ModelHost(
        processes,
        [*OURSELVES, "_modelhost", "required", msgspec.json.encode(provider).decode()],
        {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION", **environ},
        idle_s=60,
    )
    try:
        yield running
    finally:
        await running.stop()
        processes.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[StandIn]:
    async with serving(script) as standin:
        yield standin


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def openai(provider: StandIn) -> AsyncIterator[ModelHost]:
    """One host for the module: importing litellm takes seconds."""
    async with host(f"{provider.url}/v1", "openai/stand-in", {"OPENAI_API_KEY": "k"}) as running:
        yield running


async def ask(model: ModelHost, case: str) -> tuple[Reply, int]:
    return await model.complete([Message(role="user", content=case)], [TOOL])


async def test_a_tool_call_comes_back_with_its_arguments_and_its_cost(openai: ModelHost) -> None:
    reply, tries = await ask(openai, "tool")
    assert (reply, tries) == (
        Reply(
            calls=(Call(id="call_0", name="Finish", arguments='{"why": "done"}'),),
            usage=Usage(prompt_tokens=100, completion_tokens=20),
            model="stand-in",
        ),
        1,
    )


async def test_malformed_arguments_come_back_as_they_are(openai: ModelHost) -> None:
    reply, _ = await ask(openai, "malformed")
    assert reply.calls == (Call(id="call_0", name="Finish", arguments='{"why": '),)


async def test_a_text_that_pretends_to_call_is_a_text(openai: ModelHost) -> None:
    reply, _ = await ask(openai, "pretends")
    assert (reply.text, reply.calls) == ("I have called Finish(why='done').", ())


async def test_429_is_tried_again_after_the_wait_that_was_asked_for(openai: ModelHost) -> None:
    reply, tries = await ask(openai, "429")
    assert (reply.text, tries) == ("after the wait", 2)


async def test_a_passing_500_is_tried_again(openai: ModelHost) -> None:
    reply, tries = await ask(openai, "500 once")
    assert (reply.text, tries) == ("second time", 2)


@pytest.mark.parametrize(
    ("case", "fault", "tries", "retry_after_s"),
    [
        ("429 tomorrow", "rate_limit", 1, 86400.0),
        ("quota", "quota", 1, None),
        ("500", "transient", 2, None),
        ("401", "auth", 1, None),
        ("too long", "too_long", 1, None),
        ("spoken", "too_long", 1, None),
        ("cut", "transient", 2, None),
    ],
)
async def test_what_fails_is_sorted_and_its_requests_counted(
    openai: ModelHost, case: str, fault: str, tries: int, retry_after_s: float | None
) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(openai, case)
    assert (caught.value.fault, caught.value.tries, caught.value.retry_after_s) == (
        fault,
        tries,
        retry_after_s,
    )


async def test_a_provider_that_never_answers_is_given_up_and_asked_again(provider: StandIn) -> None:
    async with host(
        f"{provider.url}/v1", "openai/stand-in", {"OPENAI_API_KEY": "k"}, timeout_s=2
    ) as impatient:
        with pytest.raises(ModelError, match="gave no answer in 2 s") as caught:
            await ask(impatient, "never")
    assert (caught.value.fault, caught.value.tries) == ("transient", 2)


async def test_a_host_that_is_killed_fails_what_it_was_asked_and_comes_back(
    openai: ModelHost, provider: StandIn
) -> None:
    await ask(openai, "tool")
    await openai.stop()
    reply, _ = await ask(openai, "tool")
    assert reply.calls[0].name == "Finish"


async def test_anthropic_s_own_api_is_spoken_with_the_system_text_marked_for_its_cache() -> None:
    def claude(body: Mapping[str, Any], _before: int) -> Any:
        return anthropic_reply("fine", calls=(("Finish", {"why": "done"}),))

    async with serving(claude) as standin:
        messages = [Message(role="system", content="be brief"), Message(role="user", content="hello there")]
        async with host(standin.url, "anthropic/claude-stand-in", {"ANTHROPIC_API_KEY": "k"}) as model:
            reply, tries = await model.complete(messages, [TOOL])
    assert (reply.text, json.loads(reply.calls[0].arguments), tries) == ("fine", {"why": "done"}, 1)
    assert standin.bodies[0]["system"][0]["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (0o644, "which others can read: run `chmod 600 {key}`"),
        (None, "which cannot be read (No such file or directory): put it there alone, mode 0600"),
    ],
    ids=["others can read it", "it is gone"],
)
async def test_a_key_that_cannot_be_used_is_a_persons_to_mend(
    tmp_path: Any, mode: int | None, said: str
) -> None:
    key = tmp_path / "key"
    if mode is not None:
        key.write_text("secret")
        key.chmod(mode)
    async with host("http://127.0.0.1:9", "openai/stand-in", {}, key_file=str(key)) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model, "tool")
    assert (caught.value.fault, str(caught.value)) == (
        "auth",
        f"`model.key_file` names {key}, {said.format(key=key)}",
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai/gpt-5-mini", "Missing credentials"),
        ("gemini/gemini-2.5-flash", "Missing Gemini API key"),
        ("anthropic/claude-haiku-4-5", "Missing Anthropic API Key"),
        ("claude", "LLM Provider NOT provided"),
    ],
)
async def test_what_lacks_a_key_or_a_name_is_asked_once_and_needs_a_person(name: str, said: str) -> None:
    async with host("", name, {}) as model:
        with pytest.raises(ModelError, match=said) as caught:
            await ask(model, "tool")
    assert (caught.value.fault, caught.value.tries, "Traceback" in str(caught.value)) == ("auth", 1, False)
    assert str(caught.value).endswith("(see `model.name`, and `model.key_file` or that variable)")
