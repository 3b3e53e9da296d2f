"""The echo environment."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from echo_env import CallToolAction, EchoAction, EchoEnv, EchoObservation, ListToolsAction
from echo_env.server import EchoEnvironment
from openenv import ControlClosed, SessionCapacityError, State, local
from openenv.client.sync_tools import SyncToolClient
from openenv.client.tools import ToolCallFailed
from tests.markup import view_of

Echo = SyncToolClient[EchoAction, EchoObservation, State]
Serving = Callable[..., AbstractContextManager[str]]


@pytest.fixture(params=["local", "served"])
def echo(request: pytest.FixtureRequest) -> Iterator[Echo]:
    """A session with an echo, in this process and over a socket."""
    client: Echo
    if request.param == "local":
        made = local(EchoEnvironment, client_class=EchoEnv)
        assert isinstance(made, EchoEnv)
        client = made.sync()
    else:
        client = EchoEnv(base_url=request.getfixturevalue("echo_url")).sync()
    with client:
        yield client


def test_a_reset_greets(echo: Echo) -> None:
    result = echo.reset()
    assert result.observation.echoed_message == "Echo environment ready!"
    assert result.observation.message_length == 0
    assert (result.reward, result.done) == (0.0, False)
    assert result.metadata == {"status": "ready", "message": "Echo environment ready!"}


@pytest.mark.parametrize(
    ("message", "reward"), [("Hello, World!", 1.3), ("", 0.0), ("ü€🙂", 3 * 0.1), ("a\nb\0", 0.4)]
)
def test_a_step_echoes_and_pays_for_the_length(echo: Echo, message: str, reward: float) -> None:
    echo.reset()
    result = echo.step(EchoAction(message=message))
    assert result.observation.echoed_message == message
    assert result.observation.message_length == len(message)
    assert result.reward == reward
    assert result.done is False
    assert result.metadata == {"original_message": message, "step": 1}


def test_an_echo_needs_no_reset(echo: Echo) -> None:
    assert echo.step(EchoAction(message="hi")).observation.echoed_message == "hi"


def test_the_state_counts_the_steps_of_an_episode(echo: Echo) -> None:
    echo.reset(episode_id="first", seed=1)
    for _ in range(3):
        echo.step(EchoAction(message="again"))
    assert (echo.state().episode_id, echo.state().step_count) == ("first", 3)
    echo.reset()
    assert echo.state().episode_id not in (None, "first")
    assert echo.state().step_count == 0


def test_sessions_are_alone(echo_url: str) -> None:
    with EchoEnv(base_url=echo_url).sync() as one, EchoEnv(base_url=echo_url).sync() as other:
        one.reset(episode_id="one")
        other.reset(episode_id="other")
        one.step(EchoAction(message="hi"))
        assert (one.state().episode_id, one.state().step_count) == ("one", 1)
        assert (other.state().episode_id, other.state().step_count) == ("other", 0)


def test_the_awaiting_client(echo_url: str) -> None:
    async def talk() -> tuple[str, str, float | None]:
        async with EchoEnv(base_url=echo_url) as client:
            greeting = await client.reset()
            result = await client.step(EchoAction(message="Hello, World!"))
            return (
                greeting.observation.echoed_message,
                result.observation.echoed_message,
                result.reward,
            )

    assert asyncio.run(talk()) == ("Echo environment ready!", "Hello, World!", 1.3)


def test_the_variable_limits_the_sessions(serving: Serving) -> None:
    limited = {**os.environ, "MAX_CONCURRENT_ENVS": "1"}
    command = ("echo_env.server.app", "--host", "127.0.0.1", "--port", "0")
    with serving(*command, env=limited) as url, EchoEnv(base_url=url).sync() as first:
        first.reset()
        with pytest.raises(SessionCapacityError, match="1/1"), EchoEnv(base_url=url).sync() as one:
            one.reset()


def test_a_page_shows_what_was_said() -> None:
    environment = EchoEnvironment()
    assert view_of(environment, environment.reset()).words == "Echo Echo environment ready!"
    seen = environment.step(EchoAction(message="<hi>"))
    assert view_of(environment, seen).words == "You <hi> Echo <hi>"
    assert environment.render_web({"tools": [], "reward": None, "done": False}) is None


def test_its_tools(echo: Echo) -> None:
    assert [tool.name for tool in echo.list_tools()] == ["echo_message", "echo_with_length"]
    assert echo.call_tool("echo_message", message="Hello, World!") == "Hello, World!"
    assert echo.call_tool("echo_with_length", message="ü🙂") == {"message": "ü🙂", "length": 2}
    with pytest.raises(ToolCallFailed, match="'nope'") as failed:
        echo.call_tool("nope")
    assert failed.value.error_type == "tool_not_found"


def test_tools_and_steps_are_of_one_episode(echo: Echo) -> None:
    echo.reset(episode_id="both")
    echo.call_tool("echo_message", message="first")
    result = echo.step(EchoAction(message="second"))
    assert result.metadata == {"original_message": "second", "step": 2}
    assert (echo.state().episode_id, echo.state().step_count) == ("both", 2)


def test_a_tool_is_an_action_too(echo: Echo) -> None:
    echo.reset()
    tools = echo.step(ListToolsAction()).observation.tools
    assert [tool.name for tool in tools] == ["echo_message", "echo_with_length"]
    called = echo.step(CallToolAction(tool_name="echo_message", arguments={"message": "hi"}))
    assert called.observation.result["data"] == "hi"
    assert (called.reward, called.done) == (None, False)


@pytest.mark.parametrize("mode", ["simulation", "production"])
def test_the_quick_start_of_tools(echo_url: str, mode: str) -> None:
    with EchoEnv(base_url=echo_url, mode=mode).sync() as env:
        assert env.has_tool("echo_message")
        assert env.call_tool("echo_message", message="hi") == "hi"


def test_an_agent_has_the_tools_of_a_server_in_production(serving: Serving) -> None:
    production = {**os.environ, "OPENENV_MODE": "production"}
    command = ("echo_env.server.app", "--host", "127.0.0.1", "--port", "0")
    with serving(*command, env=production) as url, EchoEnv(url, mode="production").sync() as agent:
        assert agent.call_tool("echo_message", message="hi") == "hi"
        with pytest.raises(ControlClosed):
            agent.reset()
