"""litellm: any provider's model, its errors sorted, its passing failures tried again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import litellm
from litellm import exceptions as raised
from msgspec.structs import replace
from openai import OpenAIError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from extractord.core.records import Call, Message, Reply, Tool, Usage
from extractord.core.redact import redact
from extractord.core.wire import Answer, Ask, Provider, Said, Unanswered
from extractord.errors import ModelError, ModelFault
from extractord.keyfile import key_in

LONGEST_WAIT_S = 30.0
"""A provider that wants more than this is asked again by the daemon, later."""

_QUOTA = re.compile(r"insufficient_quota|quota|billing|credit balance|payment|usage limit", re.IGNORECASE)
_KEYLESS = re.compile(
    r"missing credentials|missing \w+ api key|_API_KEY is not set|LLM Provider NOT provided|No module named",
    re.IGNORECASE,
)
"""What litellm says before it asks anybody, in errors of many kinds: it lacks a key, a name or a library."""
_TOO_LONG = re.compile(r"prompt is too long|context.{0,20}(length|window)|too many tokens", re.IGNORECASE)
_SPOKEN_ERROR_CHARS = 300
"""Some proxies answer an error as the model's text; a real answer is longer, or calls a tool."""


class LiteLLM:
    """Answers what the daemon asks, through litellm."""

    def __init__(self, provider: Provider) -> None:
        """Read the key, if a file holds it. Raise ConfigError where others could read it too."""
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        litellm.drop_params = True
        self._provider = provider
        self._fixed = _fixed(provider)

    async def answer(self, ask: Ask) -> Said:
        """Given an Ask, return an Answer or, where every try failed, Unanswered."""
        tries, most = 0, self._provider.retries + 1
        retrying = AsyncRetrying(
            stop=stop_after_attempt(min(most, ask.most) if ask.most else most),
            wait=_wait,
            retry=retry_if_exception(_may_pass),
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    tries = attempt.retry_state.attempt_number
                    reply = await self._once(ask)
        except ModelError as error:
            return Unanswered(
                id=ask.id,
                fault=error.fault,
                message=str(error),
                retry_after_s=error.retry_after_s,
                tries=tries,
            )
        return Answer(id=ask.id, reply=reply, tries=tries)

    async def _once(self, ask: Ask) -> Reply:
        try:
            async with asyncio.timeout(self._provider.timeout_s):
                response = await litellm.acompletion(
                    messages=[_message(message) for message in ask.messages],
                    tools=[_tool(tool) for tool in ask.tools] or None,
                    **self._fixed,
                )
        except TimeoutError:
            raise ModelError(
                f"{self._provider.model} gave no answer in {self._provider.timeout_s:g} s", fault="transient"
            ) from None
        except (OpenAIError, raised.BudgetExceededError) as error:
            raise _sorted(error) from None
        reply = _reply(response)
        if self._provider.price is None:
            return reply
        dollars = self._provider.price.dollars(reply.usage)
        return replace(reply, usage=replace(reply.usage, dollars=dollars))


def _fixed(provider: Provider) -> dict[str, Any]:
    fixed: dict[str, Any] = {
        "model": provider.model,
        "timeout": provider.timeout_s,
        "max_tokens": provider.output_tokens,
        "num_retries": 0,
        "max_retries": 0,
    }
    if provider.base_url:
        fixed["api_base"] = provider.base_url
    if provider.key_file:
        fixed["api_key"] = key_in(provider.key_file)
    if "claude" in provider.model or provider.model.startswith("anthropic/"):
        fixed["cache_control_injection_points"] = [{"location": "message", "role": "system"}]
    return fixed


def _message(message: Message) -> dict[str, Any]:
    spelt: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        spelt["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.call_id is not None:
        spelt["tool_call_id"] = message.call_id
    return spelt


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }


def _reply(response: Any) -> Reply:
    """Raise ModelError where a proxy spoke an error as if the model had said it, or nothing came."""
    if not response.choices:
        raise ModelError("the provider sent a reply without a choice", fault="transient")
    choice = response.choices[0]
    text = choice.message.content or ""
    calls = tuple(
        Call(
            id=call.id or f"call-{number}",
            name=call.function.name or "",
            arguments=call.function.arguments or "",
        )
        for number, call in enumerate(choice.message.tool_calls or ())
    )
    if not calls and len(text) < _SPOKEN_ERROR_CHARS and (fault := _spoken(text)):
        raise ModelError(f"the provider answered: {_short(text)}", fault=fault)
    return Reply(
        text=text,
        calls=calls,
        usage=_usage(response),
        model=response.model or "",
        truncated=choice.finish_reason == "length",
    )


def _spoken(text: str) -> ModelFault | None:
    if re.match(r"\s*(error\b|api error|prompt is too long)", text, re.IGNORECASE):
        return "too_long" if _TOO_LONG.search(text) else "quota" if _QUOTA.search(text) else "transient"
    return None


def _usage(response: Any) -> Usage:
    used = getattr(response, "usage", None)
    details = getattr(used, "prompt_tokens_details", None)
    return Usage(
        prompt_tokens=getattr(used, "prompt_tokens", 0) or 0,
        completion_tokens=getattr(used, "completion_tokens", 0) or 0,
        cached_tokens=getattr(details, "cached_tokens", 0) or 0,
        dollars=response._hidden_params.get("response_cost") or 0.0,  # noqa: SLF001 - litellm's only place for it
    )


def _sorted(error: Exception) -> ModelError:
    """Given litellm's exception, return ours: what is wrong, sorted by what can be done."""
    text = _short(str(error))
    fault: ModelFault
    match error:
        case _ if _KEYLESS.search(text):
            fault, text = "auth", f"{text} (see `model.name`, and `model.key_file` or that variable)"
        case raised.ContextWindowExceededError():
            fault = "too_long"
        case raised.PaymentRequiredError() | raised.BudgetExceededError():
            fault = "quota"
        case raised.AuthenticationError() | raised.PermissionDeniedError() | raised.NotFoundError():
            fault = "auth"
        case raised.RateLimitError():
            fault = "quota" if _QUOTA.search(text) else "rate_limit"
        case raised.BadRequestError() | raised.UnprocessableEntityError():
            fault = "too_long" if _TOO_LONG.search(text) else "quota" if _QUOTA.search(text) else "refused"
        case _:
            fault = "transient"
    return ModelError(text, fault=fault, retry_after_s=_retry_after(error))


def _short(text: str) -> str:
    """One line without secrets: providers repeat a wrong key, litellm its own class names and its stack."""
    said = re.sub(r"^(litellm\.\w+:\s*)+", "", text).partition("Traceback (most recent call last)")[0]
    return redact(" ".join(said.split())[:400])


def _retry_after(error: Exception) -> float | None:
    response = getattr(error, "response", None)
    headers: Mapping[str, str] = getattr(error, "litellm_response_headers", None) or getattr(
        response, "headers", {}
    )
    value = headers.get("retry-after") or headers.get("llm_provider-retry-after")
    return float(value) if value and re.fullmatch(r"\d+(\.\d+)?", value) else None


def _may_pass(error: BaseException) -> bool:
    if not isinstance(error, ModelError):
        return False
    soon = error.retry_after_s is None or error.retry_after_s <= LONGEST_WAIT_S
    return error.fault in ("transient", "rate_limit") and soon


_backoff = wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT_S)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, ModelError) and error.retry_after_s is not None:
        return error.retry_after_s
    return _backoff(state)
