"""ModelServer, as the vendors' own clients see it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx
import openai
import pytest

from openenv.testing import Call, Failure, Garbage, HangUp, ModelServer, Received, Reply

HI: list[Any] = [{"role": "user", "content": "hi"}]
ADD = Reply("Let me see.", [Call("add", {"a": 1}, id="one"), Call("add", '{"a"', id="two")])


@asynccontextmanager
async def by_openai(server: ModelServer, **options: Any) -> AsyncIterator[openai.AsyncOpenAI]:
    settings = {"api_key": "k", "max_retries": 0, **options}
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", **settings) as client:
        yield client


@asynccontextmanager
async def by_anthropic(server: ModelServer) -> AsyncIterator[anthropic.AsyncAnthropic]:
    settings: dict[str, Any] = {"api_key": "k", "max_retries": 0}
    async with anthropic.AsyncAnthropic(base_url=server.url, **settings) as client:
        yield client


async def test_a_whole_answer() -> None:
    with ModelServer(ADD) as server:
        async with by_openai(server) as client:
            answer = await client.chat.completions.create(model="m", messages=HI)
        message = answer.choices[0].message
        assert (message.content, answer.choices[0].finish_reason) == ("Let me see.", "tool_calls")
        assert [(call.id, call.type) for call in message.tool_calls or []] == [
            ("one", "function"),
            ("two", "function"),
        ]
        assert answer.usage is not None
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (1, 3)
        async with by_anthropic(server) as other:
            told = await other.messages.create(model="m", max_tokens=9, messages=HI)
        assert [block.type for block in told.content] == ["text", "tool_use", "tool_use"]
        assert (told.stop_reason, told.usage.output_tokens) == ("tool_use", 3)


async def test_a_streamed_answer_of_openai() -> None:
    with ModelServer(ADD) as server:
        async with by_openai(server) as client:
            stream = await client.chat.completions.create(
                model="m", messages=HI, stream=True, stream_options={"include_usage": True}
            )
            chunks = [chunk async for chunk in stream]
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    assert [delta.content for delta in deltas if delta.content] == ["Let", " me", " see."]
    written = ["", ""]
    for delta in deltas:
        for call in delta.tool_calls or []:
            assert call.function is not None
            written[call.index] += call.function.arguments or ""
    assert written == ['{"a": 1}', '{"a"']
    endings = [choice.finish_reason for chunk in chunks for choice in chunk.choices]
    assert endings[-1] == "tool_calls"
    assert not any(endings[:-1])
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 4


async def test_a_streamed_answer_of_anthropic() -> None:
    reply = Reply("Let me see.", [Call("add", {"a": 1}, id="one")], tokens=(5, 6))
    with ModelServer(reply) as server:
        async with (
            by_anthropic(server) as client,
            client.messages.stream(model="m", max_tokens=9, messages=HI) as stream,
        ):
            texts = [text async for text in stream.text_stream]
            message = await stream.get_final_message()
    assert texts == ["Let", " me", " see."]
    called = message.content[1]
    assert called.type == "tool_use"
    assert (called.id, called.name, called.input) == ("one", "add", {"a": 1})
    assert (message.usage.input_tokens, message.usage.output_tokens) == (5, 6)


async def test_a_stream_that_is_cut() -> None:
    with ModelServer(HangUp(Reply("one two three four"))) as server:
        async with by_openai(server) as client:
            stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
            with pytest.raises((openai.APIConnectionError, httpx.RemoteProtocolError)):
                [chunk async for chunk in stream]


async def test_a_stream_that_is_left() -> None:
    with ModelServer(Reply("one two", pace_s=600)) as server:
        async with by_openai(server) as client:
            stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
            await anext(stream)
            await stream.close()
            while server.at_once:
                await asyncio.sleep(0.01)


def test_an_end_does_not_wait_for_answers() -> None:
    async def ask(server: ModelServer) -> None:
        async with httpx.AsyncClient(timeout=60) as client:
            body = {"model": "m", "messages": HI, "stream": True}
            asked = [asyncio.ensure_future(_post(client, server, body)) for _ in range(2)]
            while len(server.requests) < 2:
                await asyncio.sleep(0.01)
            server.__exit__()
            await asyncio.gather(*asked, return_exceptions=True)

    server = ModelServer([Reply(delay_s=600), Reply("one two", pace_s=600)])
    asyncio.run(ask(server.__enter__()))


async def _post(client: httpx.AsyncClient, server: ModelServer, body: Any) -> httpx.Response:
    return await client.post(f"{server.url}/v1/chat/completions", json=body)


async def test_failures_have_the_vendors_forms() -> None:
    script = [Failure(429, "slow", retry_after=3), Failure(429, "slow"), Failure(529)]
    with ModelServer(script) as server:
        async with by_openai(server) as client, by_anthropic(server) as other:
            with pytest.raises(openai.RateLimitError, match="slow") as limited:
                await client.chat.completions.create(model="m", messages=HI)
            assert limited.value.response.headers["retry-after"] == "3"
            assert limited.value.type == "rate_limit_error"
            with pytest.raises(anthropic.RateLimitError, match="rate_limit_error"):
                await other.messages.create(model="m", max_tokens=9, messages=HI)
            with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
                await other.messages.create(model="m", max_tokens=9, messages=HI)
            with pytest.raises(openai.BadRequestError, match="ended after 3 replies"):
                await client.chat.completions.create(model="m", messages=HI)


async def test_a_key_is_asked_for() -> None:
    with ModelServer(api_key="right") as server:
        async with by_openai(server) as client:
            with pytest.raises(openai.AuthenticationError, match="key is wrong"):
                await client.chat.completions.create(model="m", messages=HI)
        async with by_openai(server, api_key="right") as client:
            await client.chat.completions.create(model="m", messages=HI)
            assert [model.id async for model in client.models.list()] == ["test-model"]


async def test_more_than_it_takes_is_too_many() -> None:
    async def wait(received: Received) -> str:
        await busy.wait()
        return "ok"

    busy = asyncio.Event()
    with ModelServer(wait, max_at_once=1) as server:
        async with by_openai(server) as client:
            first = asyncio.ensure_future(client.chat.completions.create(model="m", messages=HI))
            while not server.requests:
                await asyncio.sleep(0.01)
            with pytest.raises(openai.RateLimitError, match="more than 1 at once"):
                await client.chat.completions.create(model="m", messages=HI)
            first.cancel()
    assert server.most_at_once == 2


async def test_a_script_that_raises_tells_who_asks() -> None:
    with ModelServer(lambda received: received.body["nothing"]) as server:
        async with by_openai(server) as client:
            with pytest.raises(openai.BadRequestError, match="raised KeyError: 'nothing'"):
                await client.chat.completions.create(model="m", messages=HI)


def called(id: str) -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {"role": "assistant", "tool_calls": [call]}


OPENAI = "/v1/chat/completions"
ANTHROPIC = "/v1/messages"
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}
WRONG: list[tuple[str, str, Any, str]] = [
    ("no json", OPENAI, b"{", "not JSON"),
    ("a list", OPENAI, [], "model parameter"),
    ("no model", OPENAI, {"messages": HI}, "model parameter"),
    ("no messages", OPENAI, {"model": "m"}, "non-empty array"),
    ("no roles", OPENAI, {"model": "m", "messages": [{}]}, "non-empty array"),
    ("a role", OPENAI, {"model": "m", "messages": [{"role": "x"}]}, "unknown role"),
    (
        "a result alone",
        OPENAI,
        {"model": "m", "messages": [*HI, {"role": "tool", "tool_call_id": "1"}]},
        "preceding message",
    ),
    ("a call alone", OPENAI, {"model": "m", "messages": [*HI, called("1"), *HI]}, "missing: 1"),
    ("no version", ANTHROPIC, {"model": "m", "messages": HI, "max_tokens": 1}, "anthropic-version"),
    ("no limit", ANTHROPIC, {"model": "m", "messages": HI}, "max_tokens"),
    ("a system role", ANTHROPIC, {"messages": [{"role": "system", "content": "x"}]}, "role"),
    ("no text", ANTHROPIC, {"messages": [{"role": "user", "content": ""}]}, "non-empty"),
    ("a use alone", ANTHROPIC, {"messages": [*HI, USE, *HI]}, "do not match"),
    ("a last use", ANTHROPIC, {"messages": [*HI, USE]}, "do not match"),
    ("an answer alone", ANTHROPIC, {"messages": [*HI, RESULT]}, "do not match"),
]


def test_what_is_no_request_is_refused() -> None:
    with ModelServer() as server, httpx.Client(base_url=server.url, timeout=60) as client:
        for name, path, body, says in WRONG:
            headers = {} if name == "no version" else {"anthropic-version": "2023-06-01"}
            rest = {} if path == OPENAI or name == "no limit" else {"model": "m", "max_tokens": 1}
            whole = {**rest, **body} if isinstance(body, dict) else body
            content = whole if isinstance(whole, bytes) else json.dumps(whole).encode()
            answer = client.post(path, content=content, headers=headers)
            assert answer.status_code == 400, name
            assert says in answer.json()["error"]["message"], name
        assert client.get(OPENAI).status_code == client.post("/v1/other").status_code == 404
        assert client.post(OPENAI, content=b" " * (16 * 1024 * 1024 + 1)).status_code == 413
        assert not server.requests


def test_it_serves_again() -> None:
    server = ModelServer()
    for _ in range(2):
        with server:
            body = {"model": "m", "messages": HI}
            answer = httpx.post(f"{server.url}{OPENAI}", json=body).json()
            assert answer["choices"][0]["message"]["content"] == "ok"


def test_the_last_requests_are_kept() -> None:
    body = {"model": "m", "messages": HI, "tools": [{"function": {"name": "f"}}]}
    with ModelServer(Garbage(b"x", "text/plain"), kept=2) as server:
        for _ in range(3):
            assert httpx.post(f"{server.url}{OPENAI}", json=body).text == "x"
        assert [request.number for request in server.requests] == [1, 2]
        last = server.requests[-1]
    assert (last.text, last.tool_names, last.dialect) == ("hi", ["f"], "openai")
