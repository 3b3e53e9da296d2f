"""OpenAIClient, through the real SDK, against a server on the real wire."""

import asyncio
import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from openenv.core.llm_client import OpenAIClient
from openenv.env.tool_models import Tool
from openenv.llm import (
    ModelFailed,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    RetryPolicy,
    TokenUsage,
)
from openenv.llm.loops import _kept
from openenv.testing import Call, Failure, Garbage, HangUp, ModelServer, Received, Reply
from tests.serving import eventually

ADD = Tool(
    name="add",
    description="Adds.",
    input_schema={"type": "object", "properties": {"a": {"type": "integer"}}},
)
AT_ONCE = RetryPolicy(attempts=3, first_wait_s=0.0)


def client(server: ModelServer, **options: Any) -> OpenAIClient:
    return OpenAIClient(server.url, None, "m", **{"retries": AT_ONCE, **options})


async def test_a_prompt_is_answered_and_its_cost_is_known() -> None:
    with ModelServer(Reply("hello there", tokens=(7, 2))) as server:
        model = client(server, system_prompt="Be brief.")
        answer = await model.complete("hi")
        await model.complete("hi", temperature=0.5, max_tokens=9, stop=["x"])
    assert answer == "hello there"
    assert (answer.finish_reason, answer.usage) == ("stop", TokenUsage(7, 2, 1))
    assert model.usage == TokenUsage(14, 4, 2)
    assert model.usage.total_tokens == 18
    first, second = (request.body for request in server.requests)
    assert first == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
        ],
        "max_tokens": 256,
        "temperature": 0.0,
    }
    assert (second["temperature"], second["max_tokens"], second["stop"]) == (0.5, 9, ["x"])


async def test_a_model_that_reasons_gets_no_temperature_and_its_own_limit() -> None:
    with ModelServer() as server:
        await client(server, use_max_completion_tokens=True).complete("hi")
        await client(server, temperature=None).complete("hi")
    first, second = (request.body for request in server.requests)
    assert first["max_completion_tokens"] == 256
    assert first.keys().isdisjoint({"temperature", "max_tokens"})
    assert "temperature" not in second


async def test_a_conversation_with_tools_goes_round() -> None:
    def play(received: Received) -> Reply:
        if received.messages[-1]["role"] == "tool":
            return Reply(f"it is {received.text}")
        return Reply(calls=[Call("add", {"a": 2}, id="one"), Call("add", {}, id="two")])

    messages: list[dict[str, Any]] = [{"role": "user", "content": "add"}]
    with ModelServer(play) as server:
        model = client(server)
        response = await model.complete_with_tools(messages, [ADD])
        assert (response.content, response.finish_reason) == ("", "tool_calls")
        assert [(c.id, c.name, c.args) for c in response.tool_calls] == [
            ("one", "add", {"a": 2}),
            ("two", "add", {}),
        ]
        messages.append(response.to_message_dict())
        for call in response.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "3"})
        response = await model.complete_with_tools(messages, [ADD])
    assert response.content == "it is 3"
    assert server.requests[0].tool_names == ["add"]


@pytest.mark.parametrize("written", ["{'a': 1}", '{"a": ', "[1]", "7", '{"a": NaN}'])
async def test_arguments_that_are_no_json_object_are_told(written: str) -> None:
    with ModelServer([Reply(calls=[Call("add", written, id="one")]), "I see"]) as server:
        model = client(server)
        asked = {"role": "user", "content": "add"}
        response = await model.complete_with_tools([asked], [ADD])
        [call] = response.tool_calls
        assert call.args == {}
        assert call.fault is not None and written in call.fault
        told = {"role": "tool", "tool_call_id": "one", "content": call.fault}
        again = await model.complete_with_tools([asked, response.to_message_dict(), told], [ADD])
    assert again.content == "I see"


async def test_what_passes_is_tried_again() -> None:
    script = [
        Failure(429, retry_after=0),
        Failure(503, "overloaded"),
        HangUp(),
        HangUp(Reply("half of it")),
        "ok",
    ]
    with ModelServer(script) as server:
        model = client(server, retries=RetryPolicy(attempts=5, first_wait_s=0.0))
        assert await model.complete("hi") == "ok"
    assert len(server.requests) == 5
    assert model.usage.requests == 1


async def test_429_for_ever_ends_after_so_many_attempts() -> None:
    with (
        ModelServer(Failure(429, "slow down", retry_after="0")) as server,
        pytest.raises(ModelUnavailable, match=r"HTTP 429.*slow down.*3 time") as failed,
    ):
        await client(server).complete("hi")
    assert (failed.value.status, failed.value.attempts, len(server.requests)) == (429, 3, 3)


async def test_a_wait_longer_than_all_there_is_is_not_begun() -> None:
    with (
        ModelServer(Failure(429, retry_after=3600)) as server,
        pytest.raises(ModelUnavailable, match="wait another 3600 s") as failed,
    ):
        await client(server).complete("hi")
    assert (failed.value.attempts, failed.value.retry_after_s) == (1, 3600.0)


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (Failure(400, "too long"), "too long"),
        (Failure(401, "no such key"), "no such key"),
        (Failure(404, "no such model"), "no such model"),
        (Failure(429, "pay first", code="insufficient_quota"), "pay first"),
    ],
    ids=["400", "401", "404", "quota"],
)
async def test_what_does_not_pass_is_not_tried_again(failure: Failure, says: str) -> None:
    with ModelServer(failure) as server, pytest.raises(ModelRejected, match=says) as failed:
        await client(server).complete("hi")
    assert (failed.value.status, len(server.requests)) == (failure.status, 1)


def late(received: Received) -> Reply:
    return Reply("ok", delay_s=600 if received.text == "late" else 0)


async def test_a_late_answer_is_a_timeout_and_the_client_lives() -> None:
    with ModelServer(late) as server:
        model = client(server, timeout_s=0.2, retries=RetryPolicy(attempts=1))
        with pytest.raises(ModelTimeout, match=r"no answer within 0\.2 s"):
            await model.complete("late")
        with pytest.raises(TimeoutError):
            await model.complete("late", timeout_s=0.1)
        assert await model.complete("now", timeout_s=50) == "ok"


async def test_all_attempts_together_have_a_deadline() -> None:
    policy = RetryPolicy(attempts=1_000_000, total_s=0.5, first_wait_s=0.0)
    with ModelServer(late) as server, pytest.raises(ModelTimeout) as failed:
        await client(server, timeout_s=0.1, retries=policy).complete("late")
    assert failed.value.attempts < policy.attempts


async def test_an_answer_that_is_none_is_told() -> None:
    garbage = [
        Garbage(),
        Garbage(b"hello", "text/plain"),
        Garbage(b"{}"),
        Garbage(b"[]"),
        Garbage(b"null"),
        Garbage(b'{"choices": []}'),
        Garbage(b'{"choices": [{"message": null}]}'),
        Garbage(b'{"choices": [{"message": {"content": 7}}]}'),
        Garbage(b""),
    ]
    with ModelServer([*garbage, "ok"]) as server:
        model = client(server)
        for _ in garbage:
            with pytest.raises(ModelFailed, match="m at http") as failed:
                await model.complete("hi")
            assert type(failed.value) is ModelFailed
        assert await model.complete("hi") == "ok"


async def test_nobody_there_is_unavailable() -> None:
    with ModelServer() as server:
        model = client(server)
    with pytest.raises(ModelUnavailable, match="no connection") as failed:
        await model.complete("hi")
    assert failed.value.status is None


async def test_a_prompt_that_cannot_be_sent_is_rejected() -> None:
    with ModelServer() as server, pytest.raises(ModelRejected, match="surrogates"):
        await client(server).complete("\ud800")


async def test_a_refusal_is_marked() -> None:
    refusal = b'{"choices": [{"message": {"content": null, "refusal": "no"}}]}'
    with ModelServer(Garbage(refusal)) as server:
        answer = await client(server).complete("hi")
    assert (answer, answer.finish_reason, answer.usage) == ("no", "refusal", None)


async def test_the_key_is_sent_and_never_shown() -> None:
    key = "sk-secret-0123456789"

    def repeat(received: Received) -> Failure:
        return Failure(400, f"you sent {received.headers['authorization']}")

    with ModelServer(repeat, api_key=key) as server:
        model = client(server, api_key=key)
        with pytest.raises(ModelRejected, match=r"you sent Bearer \*\*\*") as failed:
            await model.complete("hi")
        with pytest.raises(ModelRejected) as refused:
            await client(server, api_key="sk-another").complete("hi")
    assert refused.value.status == 401
    assert key not in f"{model!r} {failed.value!r}"
    assert failed.value.__suppress_context__


@pytest.mark.parametrize("key", ["sk-\u00e4", "sk-1\n2", "sk-1\x00"])
def test_a_key_that_cannot_be_sent_is_refused_unseen(key: str) -> None:
    with pytest.raises(ValueError, match="no key has") as refused:
        OpenAIClient("http://localhost", 1, "m", key)
    assert "sk" not in str(refused.value)


async def test_a_key_is_sent_without_the_end_of_its_line() -> None:
    with ModelServer(api_key="sk-1") as server:
        assert await client(server, api_key=" sk-1\n").complete("hi") == "ok"


async def test_nothing_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    for name in ("OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-the-environment")
    headers = "X-Own: of-the-environment\nAuthorization: of-the-environment"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
    with ModelServer(api_key="sk-1") as server:
        await client(server, api_key="sk-1").complete("hi", extra_headers={"X-Mine": "yes"})
    assert "of-the-environment" not in str(server.requests[0].headers)
    assert server.requests[0].headers["x-mine"] == "yes"


async def test_redirects_are_not_followed() -> None:
    with ModelServer(Failure(307)) as server, pytest.raises(ModelRejected) as failed:
        await client(server).complete("hi")
    assert failed.value.status == 307


def test_one_client_serves_loops_that_come_and_go() -> None:
    with ModelServer() as server:
        model = client(server)
        answers = [asyncio.run(model.complete("hi")) for _ in range(3)]
    assert answers == ["ok"] * 3
    assert model.usage.requests == 3


def test_loops_side_by_side_have_connections_of_their_own() -> None:
    with ModelServer() as server, ThreadPoolExecutor(8) as threads:
        model = client(server)
        asked = [threads.submit(asyncio.run, model.complete(str(n))) for n in range(24)]
        assert [future.result() for future in asked] == ["ok"] * 24
    assert model.usage.requests == 24


def test_clients_that_are_dropped_leave_nothing_behind() -> None:
    async def ask(url: str) -> None:
        model = OpenAIClient(url, None, "m")
        model.itself = model  # type: ignore[attr-defined]  # garbage that is collected later
        await model.complete("hi")

    async def ask_often(url: str) -> int:
        for _ in range(2):
            await ask(url)
            gc.collect()
        return len(connections)

    connections = set()

    def note(received: Received) -> str:
        connections.add(received.headers["host"])
        return "ok"

    with ModelServer(note) as server:
        assert asyncio.run(ask_often(server.url)) == 1
        gc.collect()


def test_a_loop_that_ends_carelessly_is_forgotten() -> None:
    with ModelServer() as server:
        model = client(server)
        loop = asyncio.new_event_loop()
        loop.run_until_complete(model.complete("hi"))
        careless = set(_kept)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        assert loop in careless
        asyncio.run(model.complete("hi"))
        assert loop not in _kept


async def test_a_cancelled_call_ends_its_request() -> None:
    with ModelServer(Reply(delay_s=600)) as server:
        asking = asyncio.ensure_future(client(server).complete("hi"))
        while not server.requests:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.to_thread(eventually, lambda: server.at_once == 0)


async def test_copies_are_clients() -> None:
    with ModelServer() as server:
        model = client(server)
        await model.complete("hi")
        for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert await copied.complete("hi") == "ok"


@pytest.mark.parametrize(
    "option", [{"timeout_s": 0}, {"max_tokens": -1}, {"timeout_s": float("nan")}]
)
def test_limits_that_are_none_are_refused(option: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="give more than 0"):
        OpenAIClient("http://localhost", 1, "m", **option)  # type: ignore[arg-type]
