"""A client of tools: as an agent and as a trainer, blocking and awaiting."""

import asyncio
import gc
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from openenv import (
    CallToolAction,
    ConcurrentCall,
    ConfigurationError,
    ControlClosed,
    EnvClient,
    Limits,
    ListToolsAction,
    ModeError,
    NoTools,
    ResetRequired,
    SessionError,
    SessionLost,
    State,
    StepResult,
    local,
)
from openenv.client.sync_tools import SyncToolClient
from openenv.client.tools import MCPToolClient, ToolCallFailed
from tests.client.tool_worlds import (
    Bare,
    Basket,
    Bought,
    Buy,
    Changing,
    Shop,
    ShopClient,
    shops,
)
from tests.client.ways import Ask, talking
from tests.serving import Served, eventually, serving

MODES = ("production", "simulation")


@pytest.fixture(scope="module")
def shop() -> Iterator[Served]:
    """A server of shops, which serves trainers and agents."""
    with shops(max_concurrent_envs=16, host_kind="thread") as served:
        yield served


@pytest.fixture
def url(shop: Served) -> Iterator[str]:
    """Its address; the test must leave no session behind."""
    yield address(shop)
    eventually(lambda: shop.openenv.active_sessions == 0)


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """As whom the client calls."""
    name: str = request.param
    return name


def address(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


def calling(served: Served, mode: str) -> SyncToolClient[Any, Any, State]:
    return MCPToolClient(base_url=address(served), mode=mode).sync()


def test_lists_and_calls(url: str, mode: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        names = [tool.name for tool in await ask(client.list_tools())]
        assert names[:2] == ["buy", "checkout"]
        assert await ask(client.has_tool("buy"))
        assert not await ask(client.has_tool("steal"))
        assert (await ask(client.get_tool("buy"))).description.startswith("Puts one more")
        assert (await ask(client.get_tool("undescribed"))).description == ""
        assert await ask(client.get_tool("steal")) is None
        assert [await ask(client.call_tool("buy")) for _ in range(3)] == [1, 2, 3]

    talking(colour, talk, MCPToolClient(base_url=url, mode=mode))


@pytest.mark.parametrize(
    ("name", "arguments", "error_type", "words"),
    [
        ("steal", {}, "tool_not_found", "steal"),
        ("undescribed", {"amount": "many"}, "invalid_args", "amount"),
        ("undescribed", {"colour": "red"}, "invalid_args", "colour"),
        ("sleeps", {}, "invalid_args", "seconds"),
        ("fails", {}, "execution_error", "no luck today"),
        ("reset", {}, "tool_not_found", "reset"),
    ],
)
def test_a_failed_call_says_of_what_kind_and_the_session_lives(
    url: str, mode: str, name: str, arguments: dict[str, Any], error_type: str, words: str
) -> None:
    with MCPToolClient(base_url=url, mode=mode).sync() as client:
        client.call_tool("buy")
        with pytest.raises(ToolCallFailed, match=f"^Tool '{name}' failed: .*{words}") as failed:
            client.call_tool(name, **arguments)
        assert isinstance(failed.value, RuntimeError)
        assert (failed.value.tool_name, failed.value.error_type) == (name, error_type)
        assert str(pickle.loads(pickle.dumps(failed.value))) == str(failed.value)
        assert client.call_tool("buy") == 2


def test_arguments_of_a_tool_may_have_any_name(url: str, mode: str, colour: str) -> None:
    names = "self cls name tool timeout timeout_s arguments kwargs mode action type params"
    given = {name: name for name in names.split()}

    async def talk(client: Any, ask: Ask) -> None:
        assert await ask(client.call_tool("anything", **given)) == given

    talking(colour, talk, MCPToolClient(base_url=url, mode=mode))
    with MCPToolClient(base_url=url, mode=mode).sync() as client:
        assert client.call_tool("anything", **given) == given


def test_arguments_are_given_either_way(url: str, mode: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        assert await ask(client.call_tool("anything", {"a": 1}, b=2)) == {"a": 1, "b": 2}
        assert await ask(client.call_tool(name="anything", a=1)) == {"a": 1}
        for wrong in (5.0, "tea", ["tea"]):
            with pytest.raises(ConfigurationError, match="arguments by name"):
                await ask(client.call_tool("anything", wrong))
        with pytest.raises(ConfigurationError, match="a tool's name"):
            await ask(client.call_tool())

    talking(colour, talk, MCPToolClient(base_url=url, mode=mode))


@pytest.mark.parametrize(
    ("what", "given"),
    [("none", None), ("text", "text"), ("list", [1, "two"]), ("number", 0.5), ("false", False)],
)
def test_the_result_is_the_plain_value(url: str, mode: str, what: str, given: Any) -> None:
    with MCPToolClient(base_url=url, mode=mode).sync() as client:
        assert client.call_tool("gives", what=what) == given


def test_tools_and_episode_are_of_one_session(url: str, mode: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert await ask(client.call_tool("buy")) == 1
        assert (await ask(client.state())).items == 1
        assert (await ask(client.reset(episode_id="e1"))).reward == 0.0
        await ask(client.call_tool("buy"))
        assert (await ask(client.step(Buy(item="pen")))).reward == 1.0
        assert await ask(client.call_tool("buy")) == 3
        state = await ask(client.state())
        assert (state.episode_id, state.step_count, state.items) == ("e1", 1, 3)

    talking(colour, talk, MCPToolClient(base_url=url, mode=mode))


def test_one_client_takes_one_slot_and_close_frees_it(mode: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.call_tool("buy"))
        await ask(client.reset())
        assert await ask(client.call_tool("buy")) == 1

    with shops(max_concurrent_envs=1) as served:
        for _ in range(5):
            talking(colour, talk, MCPToolClient(base_url=address(served), mode=mode))
            assert served.openenv.active_sessions == 0


def test_the_typed_client_is_a_trainer_by_default(url: str) -> None:
    with ShopClient(base_url=url).sync() as client:
        assert client.async_client.mode == "simulation"
        assert client.reset().observation.item == "open"
        assert client.step(Buy(item="pen")).observation.item == "pen"
        assert client.call_tool("buy") == 2
        assert type(client.state()) is Basket


def test_an_untyped_client_is_an_agent_by_default(url: str) -> None:
    with MCPToolClient(base_url=url).sync() as client:
        assert client.async_client.mode == "production"
        assert client.async_client.protocol == "json-rpc"


def test_the_reward_of_a_call_is_that_of_its_step(url: str, mode: str) -> None:
    with ShopClient(base_url=url, mode=mode).sync() as client:
        client.reset()
        result = client.step(CallToolAction(tool_name="checkout"))
        assert (result.observation.tool_name, result.observation.error) == ("checkout", None)
        assert (result.reward, result.done) == (2.5, True)
        listed = client.step(ListToolsAction()).observation.tools
        assert listed == client.list_tools()


def test_what_other_steps_show_to_an_untyped_client(url: str, mode: str) -> None:
    with MCPToolClient(base_url=url, mode=mode).sync() as client:
        observation = client.reset().observation
        assert (observation.item, observation.reward) == ("open", 0.0)


class Written(EnvClient[Buy, Bought, Basket]):
    """Knows nothing of tools, and parses for itself."""

    def _step_payload(self, action: Buy) -> dict[str, Any]:
        return {"item": action.item.upper()}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Bought]:
        return StepResult(Bought(**payload["observation"]), payload.get("reward"))


class Declared(EnvClient[Buy, Bought, Basket]):
    """Leaves all to its types."""


class OfTools(EnvClient[CallToolAction, Bought, State]):
    """Has its own way with the results of tools."""

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Bought]:
        called = payload["observation"]["tool_name"]
        return StepResult(Bought(item=f"by {called}"), payload.get("reward"))


@pytest.mark.parametrize("client_class", [Written, Declared])
def test_any_client_may_take_a_step_with_tools(
    url: str, client_class: Any, protocol: str | None
) -> None:
    with client_class(base_url=url, protocol=protocol).sync() as client:
        assert client.step(Buy(item="PEN")).observation.item == "PEN"
        assert client.step(ListToolsAction()).observation.tools[0].name == "buy"
        called = client.step(CallToolAction(tool_name="buy"))
        assert called.observation.result["data"] == 2
        assert client.step(CallToolAction(tool_name="no")).observation.error.message


def test_a_client_that_knows_tools_parses_them_itself(url: str) -> None:
    with OfTools(base_url=url).sync() as client:
        assert client.step(CallToolAction(tool_name="buy")).observation.item == "by buy"


def test_an_agent_makes_no_connection_that_controls() -> None:
    paths: list[str] = []
    with shops(paths, mode="production") as served:
        with MCPToolClient(base_url=address(served), mode="production").sync() as client:
            assert client.list_tools()
            assert [client.call_tool("buy") for _ in range(3)] == [1, 2, 3]
        assert [path for path in paths if path != "/health"] == ["/mcp"]
        assert served.openenv.active_sessions == 0


def test_in_production_an_agent_controls_nothing(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert await ask(client.call_tool("buy")) == 1
        for call in (client.reset, client.state, lambda: client.step(Buy(item="pen"))):
            with pytest.raises(ControlClosed, match="control token"):
                await ask(call())
        assert await ask(client.call_tool("buy")) == 2
        with pytest.raises(ToolCallFailed, match="incident") as failed:
            await ask(client.call_tool("fails"))
        assert "luck" not in str(failed.value)

    with shops(mode="production") as served:
        talking(colour, talk, MCPToolClient(base_url=address(served)))


@pytest.mark.parametrize("capacity", [1, 4])
def test_a_server_that_ignores_attaching_is_found_out(colour: str, capacity: int) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert await ask(client.call_tool("buy")) == 1
        with pytest.raises(SessionLost, match=r"reset\(\)"):  # not the state of another session
            await ask(client.state())
        with pytest.raises(SessionLost):
            await ask(client.step(Buy(item="pen")))
        await ask(client.reset(episode_id="e1"))
        assert await ask(client.call_tool("buy")) == 1
        state = await ask(client.state())
        assert (state.episode_id, state.items) == ("e1", 1)

    with shops(deaf=True, max_concurrent_envs=capacity) as served:
        talking(colour, talk, MCPToolClient(base_url=address(served)))
        assert served.openenv.active_sessions == 0


def test_a_reset_begins_where_attaching_is_ignored(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert await ask(client.list_tools())
        await ask(client.reset())
        assert await ask(client.call_tool("buy")) == 1
        assert (await ask(client.state())).items == 1

    with shops(deaf=True, max_concurrent_envs=2) as served:
        talking(colour, talk, MCPToolClient(base_url=address(served)))
        assert served.openenv.active_sessions == 0


def test_a_call_has_the_time_that_its_caller_gives(mode: str, colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert await ask(client.call_tool("buy", {}, 30.0)) == 1
        with pytest.raises(ToolCallFailed, match="timed out") as failed:
            await ask(client.call_tool("sleeps", seconds=30))
        assert failed.value.error_type == "timeout"
        assert await ask(client.call_tool("sleeps", {"seconds": 0.5}, 20.0)) == "rested"
        with pytest.raises(ToolCallFailed, match="timed out"):
            await ask(client.call_tool("sleeps", {"seconds": 30}, 0.1))
        assert await ask(client.call_tool("buy", {}, 30.0)) == 2

    limits = Limits(tool_timeout=0.2)
    with shops(limits=limits, host_kind="process") as served:
        talking(colour, talk, MCPToolClient(base_url=address(served), mode=mode))


def test_what_is_listed_is_kept_for_the_episode(mode: str) -> None:
    with serving(Changing) as served, calling(served, mode) as client:
        first = client.list_tools()
        assert client.list_tools() == first
        assert len(client.list_tools(use_cache=False)) == len(first) + 1
        known = len(client.list_tools())
        assert client.has_tool(f"tool_{known}")  # it has come since
        client.reset()
        assert len(client.list_tools()) == known + 2


def test_tools_are_listed_before_a_reset_but_called_after(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert await ask(client.list_tools())
        with pytest.raises(ResetRequired):
            await ask(client.call_tool("tool_0"))
        await ask(client.reset())
        assert await ask(client.call_tool("tool_0")) == "tool_0"

    with serving(Changing) as served:
        url = address(served)
        talking(colour, talk, MCPToolClient(base_url=url, mode="simulation"))
        with MCPToolClient(base_url=url).sync() as agent:  # which could not reset
            assert agent.call_tool("tool_0") == "tool_0"


def test_an_environment_without_tools_says_so(mode: str) -> None:
    with serving(Bare) as served, calling(served, mode) as client:
        client.reset()
        with pytest.raises(NoTools):
            client.list_tools()
        with pytest.raises(NoTools):
            client.call_tool("buy")
        assert client.step(Buy(item="pen")).observation.item == "pen"


def test_a_client_that_is_dropped_gives_its_slot_back(url: str, mode: str, shop: Served) -> None:
    client = MCPToolClient(base_url=url, mode=mode)
    client.call_tool("buy")
    client.reset()
    assert shop.openenv.active_sessions == 1
    del client
    gc.collect()
    eventually(lambda: shop.openenv.active_sessions == 0)


def test_a_pickled_client_has_a_session_of_its_own(url: str, mode: str) -> None:
    with MCPToolClient(base_url=url, mode=mode).sync() as client:
        client.call_tool("buy")
        client.state()
        with pickle.loads(pickle.dumps(client)) as other:
            assert other.call_tool("buy") == 1
        assert client.call_tool("buy") == 2


def test_a_session_that_is_gone_is_told(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert await ask(client.call_tool("buy")) == 1
        await ask(client.state())
        for seat in list(served.openenv.sessions._seats):
            served.server.servers[0].get_loop().call_soon_threadsafe(seat.begin_close)
        eventually(lambda: served.openenv.active_sessions == 0)
        with pytest.raises(SessionError):
            await ask(client.call_tool("buy"))
        with pytest.raises(SessionLost):
            await ask(client.call_tool("buy"))
        with pytest.raises(SessionLost):
            await ask(client.state())
        await ask(client.reset())
        assert await ask(client.call_tool("buy")) == 1

    with shops() as served:
        talking(colour, talk, MCPToolClient(base_url=address(served)))


def test_one_call_at_a_time(url: str, mode: str) -> None:
    async def both() -> None:
        async with MCPToolClient(base_url=url, mode=mode) as client:
            first = asyncio.ensure_future(client.call_tool("sleeps", seconds=0.3))
            await asyncio.sleep(0)
            with pytest.raises(ConcurrentCall):
                await client.call_tool("buy")
            assert await first == "rested"

    asyncio.run(both())


def test_results_are_read_without_await_inside_a_loop(url: str, mode: str) -> None:
    """As a notebook does. Nothing that is forgotten passes for true."""

    async def cell() -> None:
        client = MCPToolClient(base_url=url, mode=mode)
        assert not client.has_tool("steal")
        assert client.get_tool("buy").name == "buy"
        client.close()

    async def forgotten() -> None:
        async with MCPToolClient(base_url=url, mode=mode) as client:
            with pytest.raises(ModeError, match="await"):
                bool(client.has_tool("steal"))

    asyncio.run(cell())
    asyncio.run(forgotten())


def test_a_cancelled_call_is_interrupted_and_the_session_goes_on(mode: str) -> None:
    async def talk() -> None:
        async with MCPToolClient(base_url=address(served), mode=mode) as client:
            assert await client.call_tool("buy") == 1
            call = asyncio.ensure_future(client.call_tool("sleeps", {"seconds": 50}, 50.0))
            await asyncio.sleep(0.1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            if mode == "production":
                assert await client.call_tool("buy", {}, 30.0) == 2
            else:
                await client.reset()

    with shops(host_kind="process", max_concurrent_envs=1) as served:
        asyncio.run(talk())
        eventually(lambda: served.openenv.active_sessions == 0)


class Helped(MCPToolClient):
    """Has methods of its own, as packages write them."""

    async def buy_two(self) -> int:
        await self.call_tool("buy")
        bought: int = await self.call_tool("buy")
        return bought

    async def call_tool(self, name: str, /, **arguments: Any) -> Any:  # type: ignore[override]
        return await super().call_tool(name, **arguments)


def test_methods_of_a_subclass_work_in_both_colours(url: str, mode: str) -> None:
    async def awaited() -> int:
        async with Helped(base_url=url, mode=mode) as client:
            return await client.buy_two()

    assert asyncio.run(awaited()) == 2
    with Helped(base_url=url, mode=mode).sync() as client:
        assert client.buy_two() == 2


def test_an_environment_in_this_process_is_called_likewise() -> None:
    client = local(Shop, client_class=MCPToolClient)
    with client.sync() as shop:
        assert shop.call_tool("buy") == 1
        assert shop.has_tool("checkout")
        with pytest.raises(ToolCallFailed, match="no luck today"):
            shop.call_tool("fails")
        assert shop.state().model_dump()["items"] == 1


@pytest.mark.parametrize("host_kind", ["inline", "thread", "process"])
def test_on_every_host(host_kind: str, mode: str) -> None:
    with shops(host_kind=host_kind) as served:
        with MCPToolClient(base_url=address(served), mode=mode).sync() as client:
            assert client.call_tool("buy") == 1
            assert client.reset().reward == 0.0
            assert client.call_tool("anything", a=[1, {"b": None}]) == {"a": [1, {"b": None}]}
            assert client.state().model_dump()["items"] == 0
        assert served.openenv.active_sessions == 0
