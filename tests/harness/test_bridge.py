"""The bridge: what an agent can reach of its environment, and what it cannot."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from openenv import Observation
from openenv.env.tool_models import Tool
from openenv.env.tools import ToolFailure, tool
from openenv.harness.agents.bridge import HarnessMCPBridge, build_bridge_server
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.conflicts import resolve_tool_conflicts
from openenv.harness.agents.environment import HarnessAction, HarnessEnvironment
from openenv.harness.agents.events import HarnessEvent, HarnessEventType, events_to_metadata
from openenv.harness.agents.offered import OfferedTools
from openenv.protocol.errors import ConfigurationError
from openenv.runtime.limits import Limits
from tests.harness.test_adapters import Scripted
from tests.harness.worlds import is_closed
from tests.serving import eventually, serving


class Kit:
    """Two tools, one of which never returns."""

    def __init__(self) -> None:
        self.release = threading.Event()

    @tool
    def add(self, a: int, b: int) -> int:
        """Adds."""
        return a + b

    @tool
    def hang(self) -> None:
        """Hangs."""
        self.release.wait(60)


def post(
    url: str, message: dict[str, Any], token: str | None, accepts: str = ""
) -> tuple[int, Any]:
    """One JSON-RPC request, without a session."""
    host, _, path = url.removeprefix("http://").partition("/")
    headers = {"Content-Type": "application/json", "Accept": f"application/json, {accepts}"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.request("POST", f"/{path}", json.dumps(message), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def call(bridge: HarnessMCPBridge, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    status, told = post(bridge.url or "", message, bridge.token)
    assert status == 200
    answer: dict[str, Any] = told
    return answer


@contextmanager
def bridged(tools: Any, **options: Any) -> Iterator[HarnessMCPBridge]:
    bridge = HarnessMCPBridge(tools, **options)
    url = bridge.start()
    assert bridge.start() == url
    port = int(url.split(":")[2].partition("/")[0])
    try:
        yield bridge
    finally:
        bridge.stop()
        bridge.stop()
    assert bridge.url is None
    eventually(lambda: is_closed(port))


def test_tools_are_listed_and_called() -> None:
    with bridged(Kit()) as bridge:
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        _, told = post(bridge.url or "", listing, bridge.token)
        assert [each["name"] for each in told["result"]["tools"]] == ["add", "hang"]
        assert call(bridge, "add", a=2, b=3)["result"]["data"] == 5


def test_who_shows_no_token_is_refused() -> None:
    with bridged(Kit()) as bridge:
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for token in (None, "another"):
            assert post(bridge.url or "", listing, token)[0] == 401


OF_THE_SERVER = {
    "OPENENV_WORKERS": "2",
    "OPENENV_MODE": "simulation",
    "OPENENV_TOKEN": "of-the-server",
    "OPENENV_CONTROL_TOKEN": "of-the-trainer",
    "OPENENV_ALLOW_AGENT_CONTROL": "1",
    "OPENENV_HOST_KIND": "process",
    "OPENENV_ISOLATION": "strict",
    "OPENENV_MAX_MESSAGE_MB": "0.0001",
    "MAX_CONCURRENT_ENVS": "1",
    "ENABLE_WEB_INTERFACE": "true",
}


def test_what_variables_say_of_the_environments_server_is_not_said_of_the_bridge(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in OF_THE_SERVER.items():
        monkeypatch.setenv(name, value)
    welcome = {"protocolVersion": "2025-06-18", "capabilities": {}}
    welcome["clientInfo"] = {"name": "agent", "version": "1"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": welcome}
    with bridged(Kit()) as bridge:
        url = bridge.url or ""
        for _ in range(2):
            assert "result" in post(url, message, bridge.token, accepts="text/event-stream")[1]
        for token in ("of-the-server", "of-the-trainer"):
            assert post(url, message, token)[0] == 401
        assert post(url.replace("/mcp", "/reset"), {}, bridge.token)[0] in (403, 404, 405)
        assert call(bridge, "add", a=2, b=3)["result"].keys() & {"_meta"} == set()
    assert "--web" not in caplog.text


def test_nothing_that_controls_an_episode_is_there() -> None:
    with bridged(Kit()) as bridge:
        for path in ("/reset", "/step", "/state"):
            url = (bridge.url or "").replace("/mcp", path)
            assert post(url, {}, bridge.token)[0] in (403, 404, 405)


def test_a_tool_that_hangs_is_answered_for() -> None:
    kit = Kit()
    try:
        with bridged(kit, tool_timeout_s=0.3) as bridge:
            assert "timed out" in json.dumps(call(bridge, "hang"))
    finally:
        kit.release.set()


class Waiting(HarnessEnvironment):
    """Its tools never come back, and one says for how long that may be."""

    @tool(timeout_s=0.2)
    async def brief(self) -> None:
        """Waits."""
        await asyncio.Event().wait()

    @tool
    async def long(self) -> None:
        """Waits."""
        await asyncio.Event().wait()


class Outer:
    """Another's tool, with a time of its own."""

    @tool(timeout_s=0.2)
    async def outer(self) -> None:
        """Waits."""
        await asyncio.Event().wait()

    def list_tools(self) -> list[Tool]:
        return []

    def call_tool(self, name: str, arguments: dict[str, Any]) -> None: ...


@pytest.mark.parametrize("name", ["brief", "outer"])
async def test_a_tool_says_how_long_it_may_run(name: str) -> None:
    environment = Waiting(Calling(name, {}), mcp=Outer())
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    assert "timed out after 0.2 s" in str(environment.adapter.told)  # type: ignore[attr-defined]
    assert observation.metadata["response"] == "ok"


class Served(Waiting):
    """As a server makes it."""

    def __init__(self) -> None:
        super().__init__(Calling("long", {}))

    async def turn_async(self, *args: Any, **kwargs: Any) -> Observation:
        observation = await super().turn_async(*args, **kwargs)
        observation.metadata["told"] = str(self.adapter.told)  # type: ignore[attr-defined]
        return observation


@pytest.mark.parametrize("kind", ["inline", "thread", "process"])
def test_the_servers_limit_holds_for_the_agents_calls(kind: Any) -> None:
    limits = Limits(tool_timeout=0.3)
    with serving(Served, host_kind=kind, limits=limits) as served, served.socket() as socket:
        socket.reset()
        told = socket.step(message="hi")["metadata"]["told"]
    assert "timed out after 0.3 s" in told


class Busy:
    """A tool that works without end, and one that shows whether it still does."""

    def __init__(self) -> None:
        self.rounds = 0

    @tool(timeout_s=0.2)
    def spin(self) -> None:
        """Spins."""
        while True:
            self.rounds += 1

    @tool
    def count(self) -> int:
        """Counts."""
        return self.rounds


def test_what_blocks_is_interrupted_when_its_time_is_over() -> None:
    with bridged(Busy()) as bridge:
        for _ in range(3):
            assert "timed out" in json.dumps(call(bridge, "spin"))
        counts = [call(bridge, "count")["result"]["data"] for _ in range(2)]
    assert counts[0] == counts[1]


def test_the_tools_of_a_fastmcp_server() -> None:
    fastmcp = pytest.importorskip("fastmcp")
    server = fastmcp.FastMCP("kit")

    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    server.tool(add)
    with bridged(build_bridge_server(server, {"add": "env_add"})) as bridge:
        assert call(bridge, "env_add", a=2, b=3)["result"]["data"] == 5
        assert "error" in call(bridge, "add", a=2, b=3)
    eventually(lambda: not [t for t in threading.enumerate() if t.name == "openenv-Server"])


async def test_an_environment_offers_the_tools_of_a_fastmcp_server() -> None:
    fastmcp = pytest.importorskip("fastmcp")
    server = fastmcp.FastMCP("kit")

    def price(item: str) -> float:
        """What it costs."""
        return 3.5

    server.tool(price)
    adapter = Calling("env_price", {"item": "tea"})
    environment = HarnessEnvironment(adapter, mcp=server)
    begun = await environment.reset_async()
    assert begun.metadata["injected_tools"] == ["env_price"]
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    results = [e for e in observation.metadata["turn_events"] if e["type"] == "tool_result"]
    assert results[0]["data"]["result"] == 3.5
    assert not [t for t in threading.enumerate() if t.name == "openenv-Server"]


async def test_an_object_with_tools_is_its_owners_to_close() -> None:
    class Owned:
        closed = False

        def list_tools(self) -> list[Tool]:
            return described("ring")

        def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
            return f"{name}!"

        def close(self) -> None:
            self.closed = True

    owned = Owned()
    environment = HarnessEnvironment(Calling("ring", {}), mcp=owned)
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    assert observation.metadata["turn_events"][1]["data"]["result"] == "ring!"
    assert not owned.closed


class Calling(Scripted):
    """An agent that calls one tool in its turn, and once more after it."""

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        super().__init__()
        self.call = {"name": name, "arguments": arguments}
        self.url = ""
        self.told: Any = None

    async def inject_tools(self, tools: list[Tool], bridge_url: str | None = None) -> None:
        self.url = bridge_url or ""

    async def ask(self) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": self.call}
        _, told = await asyncio.to_thread(post, self.url, message, self.bridge_token)
        return told

    async def send_message_streaming(self, message: str) -> Any:
        self.told = await self.ask()
        yield HarnessEvent(type=HarnessEventType.TURN_COMPLETE, data={"response": "ok"})


class Till(HarnessEnvironment):
    """Each call of its tool is worth a half; it breaks when it is told to."""

    @tool
    def ring(self, broken: bool = False) -> Observation:
        """Rings."""
        if broken:
            raise RuntimeError("the key of the safe is 1234")
        return Observation(reward=0.5)


async def test_calls_belong_to_a_turn() -> None:
    adapter = Calling("ring", {})
    environment = Till(adapter)
    await environment.reset_async()
    assert "your turn is over" in json.dumps(await adapter.ask())
    first = await environment.step_async(HarnessAction(message="hi"))
    assert first.reward == 0.5
    assert "your turn is over" in json.dumps(await adapter.ask())
    second = await environment.step_async(HarnessAction(message="hi"))
    assert len(second.metadata["turn_events"]) == 3
    await environment.close()


@pytest.mark.parametrize("mode", ["simulation", "production"])
async def test_what_a_tool_raises_is_told_by_the_mode(mode: str) -> None:
    adapter = Calling("ring", {"broken": True})
    environment = Till(adapter)
    environment.__dict__["_mode"] = mode  # as a session does
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    [_, result, _] = observation.metadata["turn_events"]
    assert observation.reward is None
    assert ("1234" in result["data"]["error"]["message"]) is (mode == "simulation")


@pytest.mark.parametrize("mode", ["simulation", "production"])
async def test_rewards_are_told_to_trainers(mode: str) -> None:
    environment = Till(Calling("ring", {}))
    environment.__dict__["_mode"] = mode
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    [_, result, _] = observation.metadata["turn_events"]
    assert ("reward" in result["data"]) is (mode == "simulation")
    assert observation.reward == 0.5


async def test_a_long_result_is_kept_in_short() -> None:
    class Long(HarnessEnvironment):
        @tool
        def read(self) -> str:
            """Reads."""
            return "x" * 200_000

    environment = Long(Calling("read", {}))
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    result = observation.metadata["turn_events"][1]["data"]["result"]
    assert result["bytes"] == 200_002
    assert len(result["cut"]) == 65536


async def test_calls_come_one_after_the_other() -> None:
    at_once = most = 0

    class Slow:
        @tool
        async def work(self) -> None:
            """Works."""
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0)
            at_once -= 1

    tools = OfferedTools(Slow())
    await asyncio.gather(*(tools.call_tool("work", {}) for _ in range(5)))
    tools.close()
    assert most == 1


async def test_a_renamed_tool_is_known_by_its_new_name_alone() -> None:
    tools = build_bridge_server(Kit(), {"add": "env_add"})
    assert [each.name for each in await tools.list_tools()] == ["env_add", "hang"]
    assert (await tools.call_tool("env_add", {"a": 1, "b": 1})).tool_name == "env_add"
    with pytest.raises(ToolFailure, match="unknown tool 'add'"):
        await tools.call_tool("add", {"a": 1, "b": 1})
    tools.close()


def described(*names: str) -> list[Tool]:
    return [Tool(name=name, description="", input_schema={}) for name in names]


def test_names_that_an_agent_uses_itself_get_a_prefix() -> None:
    tools = described("read", "buy")
    resolved = resolve_tool_conflicts(tools, {"read"})
    assert [each.name for each in resolved] == ["env_read", "buy"]
    assert [each.name for each in tools] == ["read", "buy"]


@pytest.mark.parametrize(
    ("names", "builtin"),
    [
        (["reset"], set()),
        (["buy", "buy"], set()),
        (["read", "env_read"], {"read"}),
        (["read"], {"read", "env_read"}),
    ],
)
def test_names_that_cannot_be_told_apart_are_refused(names: list[str], builtin: set[str]) -> None:
    with pytest.raises(ConfigurationError):
        resolve_tool_conflicts(described(*names), builtin)


def test_events_are_plain_in_metadata() -> None:
    event = HarnessEvent(type=HarnessEventType.TOOL_CALL, timestamp=2.0, data={"a": 1})
    assert events_to_metadata([event]) == [
        {"type": "tool_call", "timestamp": 2.0, "data": {"a": 1}}
    ]


@pytest.mark.parametrize(
    "wrong", [{"command": []}, {"startup_timeout_s": 0}, {"transport": "carrier pigeon"}, {"x": 1}]
)
def test_a_configuration_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        HarnessConfig(**({"name": "toy", "command": ["toy"]} | wrong))


def test_a_configuration_does_not_show_its_variables() -> None:
    config = HarnessConfig(name="toy", command=["toy"], env_vars={"KEY": "sk-secret"})
    assert "sk-secret" not in repr(config)
