"""Episodes that a real agent plays, through the real bridge, and what is kept of them."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection

from openenv.harness.agents.stdio import StdioHarnessAdapter
from openenv.harness.collecting.records import RolloutSerializer
from openenv.testing.model_server import Call, ModelServer, Reply
from tests.harness.worlds import Shop, config, watched
from tests.rollout.players import collection
from tests.serving import Served

pytest.importorskip("mcp")
pytest.importorskip("openai")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are seen by /proc"),
    pytest.mark.timeout(180),
]

SHOPPING = [
    Reply("", [Call("price", {"item": "tea"})]),
    Reply("", [Call("buy", {"item": "tea"})]),
    "bought the tea",
    Reply("", [Call("buy", {"item": "bread"})]),
    "and the bread",
]


@contextmanager
def shop(model: ModelServer, **app: Any) -> Iterator[Served]:
    def make(mark: str) -> Shop:
        variables = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"}
        told = config("agent.py", mark, env_vars=variables, startup_timeout_s=90.0)
        return Shop(StdioHarnessAdapter(told))

    with watched(make, **app) as server:
        yield server


def test_an_agent_plays_an_episode_and_its_trajectory_is_written(tmp_path: Path) -> None:
    with ModelServer(SHOPPING) as model, shop(model) as server:
        messages = iter(["buy tea", "buy bread"])
        collected = collection(
            f"http://127.0.0.1:{server.port}",
            lambda seed: lambda seen: {"message": next(messages)},
            num_episodes=1,
        ).run(RolloutSerializer(tmp_path))
    assert collected.num_collected == 1
    [line] = (tmp_path / "results.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert record["reward"] == 2.0
    assert record["done"] is True
    assert [step["result"]["reward"] for step in record["tool_trace"]] == [1.0, 1.0]
    told = [json.loads(each["content"]) for each in record["messages"][1:]]
    first, second = (each["metadata"] for each in told if "metadata" in each)
    assert first["response"] == "bought the tea"
    assert second["turn_number"] == 2
    calls = [each["data"] for each in first["turn_events"] if each["type"] == "tool_call"]
    assert [(call["tool_name"], call["arguments"]) for call in calls] == [
        ("price", {"item": "tea"}),
        ("buy", {"item": "tea"}),
    ]
    results = [each["data"] for each in first["turn_events"] if each["type"] == "tool_result"]
    assert results[0]["result"] == 3.5
    assert results[1]["reward"] == 1.0
    asked = model.requests[0].body
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["price", "buy"]


def test_a_client_of_harness_sees_the_calls_as_they_happen() -> None:
    kinds: list[str] = []
    with (
        ModelServer(SHOPPING) as model,
        shop(model, mode="production") as server,
        server.socket("/harness") as socket,
    ):
        assert json.loads(socket.connection.recv(timeout=60))["type"] == "session_started"
        for message in ("buy tea", "buy bread"):
            socket.send({"type": "message", "content": message})
            events = [*_turn(socket.connection)]
            kinds += [event["type"] for event in events[:-1]]
        assert events[-1]["data"] == {"response": "and the bread", "done": True}
        assert socket.closed() == 1000
    call = ["llm_request", "tool_call", "tool_result"]
    assert kinds == [*call, *call, "llm_request", "llm_chunk", *call, "llm_request", "llm_chunk"]


def _turn(connection: ClientConnection) -> Iterator[dict[str, Any]]:
    """What is told up to a turn's end."""
    kind = None
    while kind != "turn_complete":
        event = json.loads(connection.recv(timeout=60))
        kind = event["type"]
        yield event
