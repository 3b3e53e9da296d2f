"""What holds on every road to tools: one listing, and no control over the episode."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from openenv.env.environment import Environment
from openenv.env.models import Action, Observation
from openenv.env.tool_models import RESERVED_TOOL_NAMES, Tool
from openenv.env.tools import tool
from openenv.protocol.errors import ConfigurationError
from tests.server.mcp.rpc import (
    EVENTS,
    SESSIONLESS,
    VERSION,
    Agent,
    Params,
    ask,
    call,
    framed,
    line,
    openenv,
    post,
    result,
    told,
)
from tests.server.mcp.worlds import Shed
from tests.serving import Served, eventually, serving

Road = Callable[[Served, str, Params], dict[str, Any]]


def stateless(served: Served, method: str, params: Params) -> dict[str, Any]:
    return openenv(served, method, params)


def in_session(served: Served, method: str, params: Params) -> dict[str, Any]:
    session_id = result(openenv(served, "openenv/session/create"))["session_id"]
    served.post("/reset", {}, session_id)  # in production the server has done it
    try:
        return openenv(served, method, params | {"session_id": session_id})
    finally:
        openenv(served, "openenv/session/close", {"session_id": session_id})


def as_agent(served: Served, method: str, params: Params) -> dict[str, Any]:
    agent = Agent(served)
    try:
        return agent.ask(method, params)
    finally:
        agent.leave()


def headless(served: Served, method: str, params: Params) -> dict[str, Any]:
    return told(post(served, ask(method, params), EVENTS))


def sessionless(served: Served, method: str, params: Params) -> dict[str, Any]:
    answer = post(served, ask(method, params), EVENTS | {VERSION: SESSIONLESS})
    response: dict[str, Any] = answer.json()
    return response


def on_a_line(served: Served, method: str, params: Params) -> dict[str, Any]:
    with line(served) as socket:
        return socket.ask(method, params)


def in_frames(served: Served, method: str, params: Params) -> dict[str, Any]:
    with served.socket() as socket:
        socket.reset()
        return framed(socket, method, params)


ROADS: dict[str, Road] = {
    road.__name__: road
    for road in (stateless, in_session, as_agent, headless, sessionless, on_a_line, in_frames)
}


def stepped(served: Served, **action: Any) -> dict[str, Any]:
    """A tool's action as a step on `/ws`."""
    with served.socket() as socket:
        socket.reset()
        observation: dict[str, Any] = socket.step(**action)["observation"]
        return observation


def test_every_road_lists_the_same_tools(any_shed: Served) -> None:
    listed = {
        name: result(road(any_shed, "tools/list", {}))["tools"] for name, road in ROADS.items()
    }
    expected = listed.pop("stateless")
    assert [each["name"] for each in expected][:3] == ["inc", "add", "fail"]
    assert all(each.keys() == {"name", "description", "inputSchema"} for each in expected)
    assert all(isinstance(each["description"], str) for each in expected)
    for name, tools in listed.items():
        assert tools == expected, name
    observed = stepped(any_shed, type="list_tools")["tools"]
    assert [
        {**_listed(each, but="inputSchema"), "inputSchema": each["input_schema"]}
        for each in observed
    ] == expected


async def test_the_clients_of_others_list_the_same_tools(shed: Served) -> None:
    mcp, fastmcp = pytest.importorskip("mcp"), pytest.importorskip("fastmcp")
    expected = result(await asyncio.to_thread(openenv, shed, "tools/list"))["tools"]
    url = f"http://127.0.0.1:{shed.port}/mcp"
    async with mcp.Client(url) as official, fastmcp.Client(url) as fast:
        for tools in ((await official.list_tools()).tools, await fast.list_tools()):
            seen = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
            assert [_listed(each) for each in seen] == expected


def _listed(tool: dict[str, Any], but: str = "") -> dict[str, Any]:
    return {name: tool[name] for name in ("name", "description", "inputSchema") if name != but}


@pytest.mark.parametrize("road", ROADS.values(), ids=ROADS)
@pytest.mark.parametrize("name", sorted(RESERVED_TOOL_NAMES))
def test_no_road_lets_an_agent_control_the_episode(shed: Served, road: Road, name: str) -> None:
    for method, params in (("tools/call", call(name)), (name, {}), (f"tools/{name}", {})):
        assert "error" in road(shed, method, params)


class Sly(Environment[Action, Observation, Any]):
    """It lists its own tools, and would answer any call."""

    def reset(self, **kwargs: Any) -> Observation:
        return Observation()

    def step(self, action: Action, **kwargs: Any) -> Observation:
        return Observation()

    def list_tools(self) -> list[Tool]:
        return [Tool(name="look", description="Looks.", input_schema={"type": "object"})]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
        return f"did {name}"


def test_nor_does_an_environment_that_would() -> None:
    with serving(Sly, host_kind="inline") as served:
        for road in ROADS.values():
            looked = result(road(served, "tools/call", call("look")))
            assert looked["content"][0]["text"] == "did look"
            for name in sorted(RESERVED_TOOL_NAMES):
                assert "error" in road(served, "tools/call", call(name))


@pytest.mark.parametrize("name", sorted(RESERVED_TOOL_NAMES))
def test_a_tool_may_not_be_called_so(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        tool(name=name)(lambda self: None)


def test_a_reserved_name_in_a_step_is_refused(shed: Served) -> None:
    for name in sorted(RESERVED_TOOL_NAMES):
        fault = stepped(shed, type="call_tool", tool_name=name)["error"]
        assert fault["error_type"] == "tool_not_found"


def test_an_environment_without_tools_says_so_on_every_road() -> None:
    from openenv.testing import Counting

    with serving(Counting, host_kind="thread") as served:
        for name, road in ROADS.items():
            if name == "as_agent":
                continue
            for method in ("tools/list", "tools/call"):
                fault = road(served, method, call("inc"))["error"]
                assert fault["code"] == -32603, name
                assert "does not support MCP" in fault["message"]


def test_production_shows_no_rewards_and_has_the_same_roads() -> None:
    with serving(Shed, host_kind="thread", mode="production") as served:
        expected = result(stateless(served, "tools/list", {}))["tools"]
        for name in ("in_session", "as_agent", "headless", "sessionless", "on_a_line"):
            assert result(ROADS[name](served, "tools/list", {}))["tools"] == expected, name
            won = result(ROADS[name](served, "tools/call", call("win")))
            assert "openenv" not in (won.get("_meta") or {}), name
            failed = ROADS[name](served, "tools/call", call("fail"))
            assert "fire" not in str(failed), name
        eventually(lambda: served.active() == 0)


class Graded(Environment[Action, Observation]):
    """A tool whose verifier is down."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__(rubric=_down)

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def look(self) -> str:
        """Is no step."""
        return "nothing"

    @tool
    def hand_in(self) -> Observation:
        """Is graded."""
        observation: Observation = self.rewarded(None, Observation(done=True))
        return observation


def _down(action: Any, observation: Any) -> float:
    raise ConnectionError("the grader is down")


def test_a_verifier_that_failed_is_told_apart_from_a_call_without_a_reward() -> None:
    failed = {"rubric": "_down", "error": "ConnectionError", "message": "the grader is down"}
    with serving(Graded, host_kind="thread") as served:
        for name, road in ROADS.items():
            looked = result(road(served, "tools/call", call("look")))["_meta"]["openenv"]
            assert looked == {"reward": None, "done": False}, name
            graded = result(road(served, "tools/call", call("hand_in")))["_meta"]["openenv"]
            assert graded == {"reward": None, "done": True, "reward_error": failed}, name


def test_production_tells_nothing_of_a_verifier() -> None:
    with serving(Graded, host_kind="thread", mode="production") as served:
        for name in ("in_session", "as_agent", "headless", "sessionless", "on_a_line"):
            graded = result(ROADS[name](served, "tools/call", call("hand_in")))
            assert "reward_error" not in str(graded), name
