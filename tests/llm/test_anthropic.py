"""AnthropicClient, through the real SDK, against a server on the real wire."""

from typing import Any

import pytest

from openenv.core.llm_client import AnthropicClient
from openenv.llm import (
    ModelFailed,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    RetryPolicy,
    TokenUsage,
)
from openenv.testing import Call, Failure, Garbage, HangUp, ModelServer, Received, Reply

ADD = {"name": "add", "description": None, "inputSchema": {"type": "object"}}
AT_ONCE = RetryPolicy(attempts=3, first_wait_s=0.0)


def client(server: ModelServer, **options: Any) -> AnthropicClient:
    return AnthropicClient(server.url, None, "m", **{"retries": AT_ONCE, **options})


async def test_a_prompt_is_answered_and_its_cost_is_known() -> None:
    with ModelServer(Reply("hello there", tokens=(7, 2))) as server:
        model = client(server, system_prompt="Be brief.")
        answer = await model.complete("hi")
        await model.complete("hi", temperature=None, max_tokens=9, stop="x")
    assert answer == "hello there"
    assert (answer.finish_reason, model.usage) == ("stop", TokenUsage(14, 4, 2))
    first, second = (request.body for request in server.requests)
    assert first == {
        "model": "m",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 256,
        "temperature": 0.0,
    }
    assert (second["max_tokens"], second["stop_sequences"]) == (9, ["x"])
    assert "temperature" not in second


async def test_a_conversation_with_tools_goes_round() -> None:
    def play(received: Received) -> Reply:
        if "3" in received.text:
            return Reply(f"it is {received.text}")
        return Reply("Let me see.", [Call("add", {"a": 2}, id="one"), Call("add", {}, id="two")])

    messages: list[dict[str, Any]] = [{"role": "user", "content": "add"}]
    with ModelServer(play) as server:
        model = client(server)
        response = await model.complete_with_tools(messages, [ADD])
        assert (response.content, response.finish_reason) == ("Let me see.", "tool_calls")
        assert [(c.id, c.name, c.args) for c in response.tool_calls] == [
            ("one", "add", {"a": 2}),
            ("two", "add", {}),
        ]
        messages.append(response.to_message_dict())
        for call in response.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "3"})
        response = await model.complete_with_tools(messages, [ADD])
    assert response.content == "it is 3\n3"
    assert server.requests[0].tool_names == ["add"]


async def test_arguments_that_are_no_json_object_are_told() -> None:
    with ModelServer(Reply(calls=[Call("add", "{'a'")])) as server:
        response = await client(server).complete_with_tools(
            [{"role": "user", "content": "add"}], []
        )
    [call] = response.tool_calls
    assert call.args == {}
    assert call.fault is not None and "{'a'" in call.fault


async def test_an_answer_that_is_cut_off_says_so() -> None:
    with ModelServer(Reply("The sco", finish_reason="length")) as server:
        assert (await client(server).complete("hi")).finish_reason == "length"


async def test_what_passes_is_tried_again_and_what_does_not_is_not() -> None:
    script = [Failure(529), HangUp(), "ok", Failure(401, "no such key"), Garbage(b"{}")]
    with ModelServer(script) as server:
        model = client(server)
        assert await model.complete("hi") == "ok"
        with pytest.raises(ModelRejected, match="no such key"):
            await model.complete("hi")
        with pytest.raises(ModelFailed, match="no message"):
            await model.complete("hi")


async def test_429_for_ever_and_silence_end() -> None:
    script = [*[Failure(429, retry_after=0)] * 3, Reply(delay_s=600)]
    with ModelServer(script) as server:
        with pytest.raises(ModelUnavailable, match="HTTP 429"):
            await client(server).complete("hi")
        with pytest.raises(ModelTimeout):
            await client(server, retries=RetryPolicy(attempts=1)).complete("hi", timeout_s=0.2)


async def test_the_key_is_sent_and_never_shown() -> None:
    key = "sk-ant-secret-0123456789"

    def repeat(received: Received) -> Failure:
        shown = received.headers.get("x-api-key") or received.headers["authorization"]
        return Failure(400, f"you sent {shown.removeprefix('Bearer ')}")

    with ModelServer(repeat, api_key=key) as server:
        model = client(server, api_key=key)
        with pytest.raises(ModelRejected, match=r"you sent \*\*\*") as failed:
            await model.complete("hi")
    assert key not in f"{model!r} {failed.value!r}"


async def test_nothing_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-environment")
    headers = "X-Own: of-the-environment\nX-Api-Key: of-the-environment"
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", headers)
    with ModelServer(api_key="sk-1") as server:
        await client(server, api_key="sk-1").complete("hi")
    assert "of-the-environment" not in str(server.requests[0].headers)
