"""An environment as existing packages write it, by the published paths, in both its colours."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from fastmcp import FastMCP

from openenv.core import GenericEnvClient, MCPToolClient
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Action, Observation, State
from openenv.protocol.errors import InvalidRequest
from tests.serving import Served, serving

READY = {"status": "ready", "message": "Echo environment ready!"}


class EchoEnvironment(MCPEnvironment):
    def __init__(self) -> None:
        mcp: FastMCP[Any] = FastMCP("echo_env")

        @mcp.tool
        def echo_message(message: str) -> str:
            """Echoes a message."""
            return message

        @mcp.tool
        def echo_with_length(message: str) -> dict[str, Any]:
            """Echoes a message with its length."""
            return {"message": message, "length": len(message)}

        super().__init__(mcp)
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> Observation:
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return Observation(done=False, reward=0.0, metadata=dict(READY))

    def _step_impl(
        self, action: Action, timeout_s: float | None = None, **kwargs: Any
    ) -> Observation:
        return Observation(done=False, reward=0.0, metadata={"error": "unknown action"})

    def step(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Any:
        self._state.step_count += 1
        return super().step(action, timeout_s=timeout_s, **kwargs)

    async def step_async(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Any:
        self._state.step_count += 1
        return await super().step_async(action, timeout_s=timeout_s, **kwargs)

    @property
    def state(self) -> State:
        return self._state


@pytest.fixture(scope="module", params=["inline", "thread", "process"])
def echo(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(
        EchoEnvironment,
        host_kind=request.param,
        action_cls=CallToolAction,
        observation_cls=CallToolObservation,
        env_name="echo_env",
    ) as served:
        yield served


def test_its_tools_and_its_counting(echo: Served) -> None:
    with MCPToolClient(base_url=f"http://127.0.0.1:{echo.port}").sync() as client:
        assert client.reset().observation.metadata == READY
        assert [tool.name for tool in client.list_tools()] == ["echo_message", "echo_with_length"]
        assert client.call_tool("echo_message", message="hi") == "hi"
        assert client.call_tool("echo_with_length", message="hi") == {"message": "hi", "length": 2}
        assert client.state().step_count == 3


def test_its_steps(echo: Served) -> None:
    with GenericEnvClient(base_url=f"http://127.0.0.1:{echo.port}").sync() as client:
        client.reset(episode_id="mine")
        seen = client.step({"tool_name": "echo_message", "arguments": {"message": "x"}})
        assert seen.observation["result"]["data"] == "x"
        assert (client.state()["episode_id"], client.state()["step_count"]) == ("mine", 1)
        with pytest.raises(InvalidRequest, match="tool_name"):
            client.step({"foo": 1})
