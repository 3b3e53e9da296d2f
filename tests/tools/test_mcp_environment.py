"""MCPEnvironment by itself: its parts that existing packages call, and what it refuses."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy

from openenv import CallToolAction, ListToolsAction, Observation, tool
from openenv.core.env_server.mcp_environment import get_server_tools
from openenv.env.tool_models import CallToolObservation, ToolErrorType
from openenv.protocol.errors import ConfigurationError, InvalidRequest
from tests.serving import serving
from tests.tools.worlds import Counting, Decorated, Plain, Served, refuse, server_of_tools


class Mixed(Plain):
    """Beside a server's tools it has one of its own."""

    @tool
    def double(self, number: int) -> int:
        """Twice a number."""
        return 2 * number


@pytest.fixture
def served() -> Iterator[Served]:
    environment = Served()
    yield environment
    environment.close()


def call(environment: Any, name: str, **arguments: Any) -> CallToolObservation:
    seen: CallToolObservation = environment.step(
        CallToolAction(tool_name=name, arguments=arguments)
    )
    return seen


def test_step_lists_and_calls_on_any_thread_and_loop(served: Served) -> None:
    names = [each.name for each in served.step(ListToolsAction()).tools]
    assert names[:2] == ["increment", "add"]
    assert call(served, "add", a=1, b=2).result["data"] == 3

    async def awaited() -> Any:
        action = CallToolAction(tool_name="increment", arguments={})
        await served.step_async(action)
        return (await served.step_async(action)).result["data"], call(served, "increment")

    number, seen = asyncio.run(awaited())
    assert (number, seen.result["data"]) == (2, 3)


def test_an_action_that_is_no_call_is_the_authors(served: Served) -> None:
    with pytest.raises(InvalidRequest, match="CallToolAction"):
        served.step(Observation())
    counting = Counting()
    assert counting.step(Observation()).metadata == {"own": True}
    assert call(counting, "add", a=1, b=1).result["data"] == 2
    assert asyncio.run(counting.step_async(ListToolsAction())).tools
    assert counting.seen == ["Observation", "CallToolAction", "ListToolsAction"]
    counting.close()


@pytest.mark.parametrize("name", ["reset", "step", "state", "close"])
def test_reserved_names_are_refused_wherever_they_come_from(name: str) -> None:
    def forbidden() -> None: ...

    server: FastMCP[Any] = FastMCP("forbidden")
    server.tool(name=name)(forbidden)
    with pytest.raises(ValueError, match="control the episode"):
        Plain(server)
    environment = Plain()
    forbidden.__name__ = name
    with pytest.raises(ValueError, match="control the episode"):
        environment.tool()(forbidden)
    with pytest.raises(ValueError, match="control the episode"):
        environment.tool("simulation")(forbidden)
    environment.mcp_server.tool(name=name)(forbidden)  # behind its back
    listed = environment.step(ListToolsAction())
    assert (listed.tools, listed.metadata["error_type"]) == ([], "list_tools_failed")
    error = call(environment, name).error
    assert error is not None
    assert error.error_type is ToolErrorType.TOOL_NOT_FOUND
    environment.close()


class Forbidding(Plain):
    """Its server has a tool that none may have, added behind its back."""

    def __init__(self) -> None:
        super().__init__()
        self.mcp_server.tool(name="reset")(refuse)


class ForbiddingCounting(Forbidding, Counting):
    """The same, with a step of its own."""


@pytest.mark.parametrize("world", [Forbidding, ForbiddingCounting])
def test_a_list_that_fails_is_an_error_of_the_session(world: Any) -> None:
    with serving(world) as served, served.socket() as socket:
        socket.reset()
        refused = socket.refused({"type": "step", "data": {"type": "list_tools"}})
        assert "'reset'" in refused["message"]
        called = socket.step(type="call_tool", tool_name="add", arguments={"a": 1, "b": 1})
        assert called["observation"]["result"]["data"] == 2


def test_two_of_one_name_and_unknown_modes_are_refused(served: Served) -> None:
    with pytest.raises(ValueError, match="two tools called 'rehearse'"):
        served.tool("simulation")(served.get_callables().get("rehearse") or _rehearse)
    with pytest.raises(ValueError, match="mode must be one of"):
        served.tool("training")


def _rehearse() -> None: ...


_rehearse.__name__ = "rehearse"


def test_tools_of_a_mode_show_in_it_alone(served: Served) -> None:
    def shown() -> set[str]:
        return {each.name for each in served.step(ListToolsAction()).tools} & {
            "rehearse",
            "perform",
        }

    assert shown() == set()
    for mode, name in (("simulation", "rehearse"), ("production", "perform")):
        served._mode = mode  # type: ignore[assignment]  # as a session says it
        assert shown() == {name}
        assert call(served, name).error is None
        assert name in served.get_callables()


def test_decorated_methods_are_tools_too() -> None:
    mixed = Mixed()
    assert {"double", "add"} <= {each.name for each in mixed.step(ListToolsAction()).tools}
    assert call(mixed, "double", number=4).result["data"] == 8
    mixed.close()


def test_a_call_has_a_limit_and_what_hangs_holds_up_nothing(served: Served) -> None:
    for name in ("sleep", "wait"):
        action = CallToolAction(tool_name=name, arguments={"seconds": 0.5})
        seen = served.step(action, timeout_s=0.1)
        assert seen.error.error_type is ToolErrorType.TIMEOUT
        assert "timed out after 0.1 s" in seen.error.message
        assert call(served, "add", a=1, b=1).result["data"] == 2


def test_sessions_of_the_client_may_be_nested(served: Served) -> None:
    async def nested() -> Any:
        async with served.mcp_session() as client, served.mcp_session() as same:
            assert client is same
            return (await client.call_tool("add", {"a": 1, "b": 1})).data

    assert asyncio.run(nested()) == 2
    served.close()
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(nested())


def test_close_ends_its_threads_and_twice_is_fine() -> None:
    before = set(threading.enumerate())
    environment = Plain()
    call(environment, "add", a=1, b=1)
    environment.close()
    environment.close()
    assert {t for t in set(threading.enumerate()) - before if t.name.startswith("openenv")} == set()
    assert environment.mcp_server is None
    assert environment.mcp_client is None
    with pytest.raises(RuntimeError, match="closed"):
        call(environment, "add", a=1, b=1)


@pytest.mark.expects_error_log  # of FastMCP's own
def test_a_tool_can_neither_wait_for_itself_nor_end_its_environment() -> None:
    environment = Plain()

    async def again() -> Any:
        return call(environment, "add", a=1, b=1)

    async def finish() -> None:
        environment.close()

    for tool_of_its_own in (again, finish):
        environment.tool()(tool_of_its_own)
        error = call(environment, tool_of_its_own.__name__).error
        assert error is not None
        assert "RuntimeError" in error.message
    assert call(environment, "add", a=1, b=1).result["data"] == 2
    environment.close()


def test_callables_are_the_functions_themselves(served: Served) -> None:
    functions = served.get_callables()
    assert functions["add"](1, 2) == 3
    assert get_server_tools(served.mcp_server).keys() <= functions.keys() | {"spin"}
    assert served.supports_code_mode


def test_code_runs_apart_with_tools_as_functions(served: Served) -> None:
    code = "import os\nresult = [os.getpid(), *(add(n, b=n) for n in range(3))]\nprint('so')"
    told = served.execute_code(code).metadata
    assert told["result"][0] != threading.get_native_id()
    assert (told["result"][1:], told["stdout"]) == ([0, 2, 4], "so\n")
    assert served.execute_code("add(1, 1) + 1").metadata["result"] == 3
    assert served.execute_code("result").metadata["error"] == "name 'result' is not defined"
    assert "b: Missing required argument" in served.execute_code("add(1)").metadata["error"]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def server_of_mischief() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("mischief")

    @server.tool
    async def pretend() -> None:
        raise asyncio.CancelledError

    @server.tool
    async def vanish() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    @server.tool
    async def leave() -> None:
        raise GeneratorExit

    @server.tool
    def mumble() -> None:
        raise Unprintable

    @server.tool
    def recurse() -> None:
        recurse()

    @server.tool
    def fine() -> int:
        return 1

    return server


@pytest.mark.expects_error_log  # of FastMCP's own
def test_no_tool_ends_the_servers_session_for_good() -> None:
    environment = Plain(server_of_mischief())
    for name in ("pretend", "vanish", "leave", "mumble", "recurse"):
        assert call(environment, name).error is not None, name
        assert call(environment, "fine").result["data"] == 1, name
    environment.close()


def test_mounted_servers_and_proxies_are_tools_like_any() -> None:
    inner: FastMCP[Any] = FastMCP("inner")

    @inner.tool
    def deep(number: int) -> int:
        if number < 0:
            raise KeyError("negative")
        return number

    server = server_of_tools()
    server.mount(inner)
    server.mount(_proxy_of(FastMCP("far", tools=[deep])), namespace="far")
    environment = Plain(server)
    assert {"deep", "far_deep"} <= {each.name for each in environment.step(ListToolsAction()).tools}
    assert call(environment, "deep", number=1).result["data"] == 1
    assert call(environment, "far_deep", number=2).result["data"] == 2
    assert environment.get_callables()["far_deep"](3) == 3
    environment.close()


def _proxy_of(server: FastMCP[Any]) -> FastMCP[Any]:
    return create_proxy(Client(server))


@pytest.mark.expects_error_log  # of FastMCP's own
def test_another_openenv_server_is_one_of_tools_until_it_is_out_of_reach() -> None:
    with serving(Decorated) as far:
        environment = Plain(create_proxy(f"http://127.0.0.1:{far.port}/mcp"))
        assert call(environment, "add", a=2, b=3).result["data"] == 5
        error = call(environment, "add", a=2).error
        assert error is not None
        assert "b:" in error.message
    error = call(environment, "add", a=2, b=3).error
    assert error is not None
    assert error.error_type is ToolErrorType.TRANSPORT_ERROR
    environment.close()


def test_arguments_are_refused_in_the_constructor_of_what_is_no_server() -> None:
    with pytest.raises((TypeError, AttributeError, ConfigurationError)):
        Plain("http://127.0.0.1:9/mcp")
