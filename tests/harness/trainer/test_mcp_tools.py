"""Sessions over servers of MCP tools, by the clients that call them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastmcp import FastMCP

from openenv import Action, Environment, Observation
from openenv.client.generic import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient
from openenv.env.mcp_environment import MCPEnvironment
from openenv.env.tool_models import CallToolObservation, Tool
from openenv.harness import MCPHarnessAdapter, SessionMCPBridge, ToolSessionAdapter
from tests.harness.trainer.worlds import Script, answers
from tests.serving import Served, serving


class Calculator(MCPEnvironment[Action, Observation]):
    """Adds, by a FastMCP server; its own tool ends the episode."""

    def __init__(self) -> None:
        server = FastMCP("calculator")

        @server.tool
        def add(a: int, b: int) -> int:
            """Adds two numbers."""
            return a + b

        @server.tool
        def fail() -> int:
            """Raises."""
            raise RuntimeError("a tool that breaks")

        super().__init__(server)

    def reset(self, seed: int | None = None, **options: Any) -> Observation:
        return Observation()

    def _step_impl(self, action: Any, timeout_s: float | None = None, **options: Any) -> Any:
        return Observation()


TEXT, PICTURE = {"type": "text", "text": "hello"}, {"type": "image", "data": "aaaa"}


class Foreign(Environment[Action, Observation]):
    """Its tools answer as those of MCP's servers, without data."""

    def reset(self, seed: int | None = None, **options: Any) -> Observation:
        return Observation()

    def step(self, action: Action) -> Observation:
        return Observation()

    def list_tools(self) -> list[Tool]:
        return [Tool(name=name, description="", input_schema={}) for name in ("text", "picture")]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> CallToolObservation:
        content = [TEXT] if name == "text" else [PICTURE]
        result = {"content": content, "data": None, "is_error": bool(arguments)}
        return CallToolObservation(tool_name=name, result=result)


def test_a_model_is_told_what_a_tool_says_that_has_no_data() -> None:
    with serving(Foreign) as served:
        client = GenericEnvClient(base_url=f"http://127.0.0.1:{served.port}")
        session = ToolSessionAdapter(client)
        assert session.call_tool("text", {}).data == "hello"
        assert session.call_tool("picture", {}).data == [PICTURE]
        failed = session.call_tool("text", {"fail": True})
        assert (failed.data, failed.error) == (None, "hello")
        session.close()


@pytest.fixture(scope="module")
def calculator() -> Iterator[Served]:
    with serving(Calculator, max_concurrent_envs=4) as served:
        yield served


@pytest.mark.expects_error_log  # of FastMCP, about the tool that raises
@pytest.mark.parametrize("client", [MCPToolClient, GenericEnvClient])
def test_a_model_calls_a_fastmcp_servers_tools(
    calculator: Served, client: Callable[..., Any]
) -> None:
    opened = client(base_url=f"http://127.0.0.1:{calculator.port}")
    session = ToolSessionAdapter(opened, task="What is 2 + 3?", seed=1)
    assert [tool.name for tool in session.list_tools()] == ["add", "fail"]
    script = Script([("add", {"a": 2, "b": 3})], [("add", {"a": 2})], [("fail", {}), ("nope", {})])
    rollout = MCPHarnessAdapter().run_white_box(script, session)
    told = answers(rollout.messages)
    assert told[0] == 5
    assert "b" in told[1]["error"]
    assert "a tool that breaks" in told[2]["error"]
    assert "nope" in told[3]["error"]
    assert (rollout.done, rollout.metrics["tool_errors"]) == (True, 3)
    assert session.verify(rollout.messages).env_reward is None
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call = {**request, "params": {"name": "add", "arguments": {"a": 1, "b": 1}}}
    assert SessionMCPBridge(session).handle_request(call)["result"]["data"] == 2
    session.close()
    assert calculator.active() == 0
