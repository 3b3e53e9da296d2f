"""The ready adapters: agents that are told by lines, over HTTP, or as MCP servers."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from openenv.harness.agents.acp import ACPHarnessAdapter
from openenv.harness.agents.adapter import AgenticHarnessAdapter
from openenv.harness.agents.choice import adapter_for
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.environment import HarnessAction, HarnessEnvironment
from openenv.harness.agents.errors import HarnessNotRunningError, HarnessStartupError
from openenv.harness.agents.events import HarnessEvent, HarnessEventType
from openenv.harness.agents.launched import LaunchedAdapter
from openenv.harness.agents.over_http import HTTPHarnessAdapter
from openenv.harness.agents.over_mcp import MCPServerHarnessAdapter
from openenv.harness.agents.stdio import StdioHarnessAdapter
from tests.harness.worlds import Shop, config, nothing_is_left

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are seen by /proc")


@contextmanager
def clean(request: pytest.FixtureRequest) -> Iterator[str]:
    mark = f"{request.node.name}-{id(request)}"
    yield mark
    nothing_is_left(mark)


@pytest.fixture
def mark(request: pytest.FixtureRequest) -> Iterator[str]:
    with clean(request) as mark:
        yield mark


async def one_turn(adapter: AgenticHarnessAdapter, message: str = "hi") -> dict[str, Any]:
    environment = HarnessEnvironment(adapter)
    try:
        await environment.reset_async()
        observation = await environment.step_async(HarnessAction(message=message))
    finally:
        await environment.close()
    return observation.metadata | {"done": observation.done}


def kinds(told: dict[str, Any]) -> list[str]:
    return [each["type"] for each in told["turn_events"]]


async def test_an_http_agent_that_streams(mark: str) -> None:
    told = await one_turn(HTTPHarnessAdapter(config("http_agent.py", mark, "streamed")))
    assert told["response"] == "echo:hi"
    assert kinds(told) == ["llm_chunk", "turn_complete"]


async def test_an_http_agent_that_answers_at_once(mark: str) -> None:
    told = await one_turn(HTTPHarnessAdapter(config("http_agent.py", mark, "whole")))
    assert told["response"] == "echo:hi"
    assert kinds(told) == ["text_output", "turn_complete"]


async def test_a_flood_on_stdout_holds_no_http_agent_up(mark: str) -> None:
    told = await one_turn(HTTPHarnessAdapter(config("http_agent.py", mark, "floods")))
    assert told["response"] == "echo:hi"


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("refuses", "status 503: no model today"),
        ("dies", "exit code 9"),
        ("mumbles", "no response"),
    ],
)
async def test_an_http_agent_that_fails(mark: str, form: str, why: str) -> None:
    told = await one_turn(HTTPHarnessAdapter(config("http_agent.py", mark, form)))
    assert told["error_type"] == "harness_crashed"
    assert why in told["error"]
    assert told["done"] is True


async def test_an_http_agent_that_tells_no_address(mark: str) -> None:
    slow = config("rogue.py", mark, "good", startup_timeout_s=0.5)
    with pytest.raises(HarnessStartupError, match="no address within 0.5 s"):
        await one_turn(HTTPHarnessAdapter(slow))


@pytest.mark.parametrize("made", [HTTPHarnessAdapter, MCPServerHarnessAdapter, ACPHarnessAdapter])
async def test_an_agent_that_is_not_ready_in_time_is_ended_and_not_taken_for_ready(
    mark: str, tmp_path: Path, made: type[LaunchedAdapter]
) -> None:
    slow = config(*("rogue.py", mark, "never"), startup_timeout_s=0.5, mcp_config_path="mcp.json")
    adapter = made(slow, terminate_grace_s=0.3)
    await adapter.inject_tools([], "http://127.0.0.1:1")
    for _ in range(2):
        with pytest.raises(HarnessStartupError, match=r"within 0\.5 s"):
            await adapter.start(str(tmp_path))
        assert not await adapter.is_alive()
        assert not list(tmp_path.iterdir())


async def test_an_agent_that_is_an_mcp_server(mark: str) -> None:
    pytest.importorskip("mcp")
    told = await one_turn(MCPServerHarnessAdapter(config("mcp_agent.py", mark)))
    assert told["response"] == "echo:hi"
    assert kinds(told) == ["llm_chunk", "turn_complete"]


@pytest.mark.parametrize(("message", "why"), [("fail", "no model today"), ("die", "exit code 5")])
async def test_an_mcp_server_that_fails(mark: str, message: str, why: str) -> None:
    pytest.importorskip("mcp")
    told = await one_turn(MCPServerHarnessAdapter(config("mcp_agent.py", mark)), message)
    assert told["error_type"] == "harness_crashed"
    assert why in told["error"]


async def test_an_mcp_server_without_the_tool(mark: str) -> None:
    pytest.importorskip("mcp")
    with pytest.raises(HarnessStartupError, match=r"no tool 'talk': it has \['chat'\]"):
        await one_turn(MCPServerHarnessAdapter(config("mcp_agent.py", mark), "talk"))


async def test_a_file_tells_the_agent_of_the_tools(mark: str, tmp_path: Path) -> None:
    told = config(
        *("rogue.py", mark, "good"),
        working_directory=str(tmp_path),
        mcp_config_path=".agent/mcp.json",
    )
    environment = Shop(StdioHarnessAdapter(told))
    file = tmp_path / ".agent/mcp.json"
    await environment.reset_async()
    server = json.loads(file.read_text())["mcpServers"]["openenv"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert server["url"].startswith("http://127.0.0.1:")
    assert server["headers"]["Authorization"].startswith("Bearer ")
    await environment.close()
    assert not file.exists()


@pytest.mark.parametrize(
    "own",
    ["not JSON", "[]", '{"mcpServers": {"openenv": {}, "mine": {}}}', '{"mcpServers": {}, "a": 1}'],
)
async def test_a_file_of_the_users_own_is_left_alone(mark: str, tmp_path: Path, own: str) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text(own)
    told = config(
        *("rogue.py", mark, "good"), working_directory=str(tmp_path), mcp_config_path=".mcp.json"
    )
    environment = Shop(StdioHarnessAdapter(told))
    with pytest.raises(HarnessStartupError, match=r"'\.mcp\.json' names a file that is there"):
        await environment.reset_async()
    await environment.close()
    assert file.read_text() == own


async def test_a_file_that_a_killed_server_left_is_replaced(mark: str, tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text('{"mcpServers": {"openenv": {"url": "http://127.0.0.1:1"}}}')
    told = config(
        *("rogue.py", mark, "good"), working_directory=str(tmp_path), mcp_config_path=".mcp.json"
    )
    environment = Shop(StdioHarnessAdapter(told))
    await environment.reset_async()
    assert "Bearer " in file.read_text()
    await environment.close()
    assert not file.exists()


async def test_a_secret_that_an_agent_writes_is_not_shown(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "sk-secret")
    told = config("rogue.py", mark, "dies_at_start", api_key_env_var="THE_KEY")
    with pytest.raises(HarnessStartupError) as caught:
        await one_turn(StdioHarnessAdapter(told))
    assert "no model: ***" in str(caught.value)
    assert "sk-secret" not in repr(caught.value)


class Scripted(AgenticHarnessAdapter):
    """An adapter of an author's own, with no process behind it."""

    BUILTIN_TOOL_NAMES = frozenset({"price"})

    def __init__(self, *events: Any) -> None:
        told = HarnessConfig(name="own", command=["-"], working_directory=None)
        super().__init__(told)
        self.events = events
        self.did: list[str] = []

    async def inject_tools(self, tools: list[Any], bridge_url: str | None = None) -> None:
        self.did.append("inject " + " ".join(tool.name for tool in tools))

    async def start(self, working_directory: str) -> None:
        self.did.append("start")

    async def stop(self) -> None:
        self.did.append("stop")

    async def is_alive(self) -> bool:
        return True

    async def send_message_streaming(self, message: str) -> Any:
        for event in self.events:
            yield event


END = HarnessEvent(type=HarnessEventType.TURN_COMPLETE, data={"response": "ok", "done": True})


async def test_an_episode_of_an_own_adapter() -> None:
    adapter = Scripted(END)
    environment = Shop(adapter)
    begun = await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    assert observation.done
    assert environment.state.step_count == 1
    assert environment.state.episode_id == begun.metadata["episode_id"]
    assert adapter.did == ["stop", "inject env_price buy", "start", "stop"]
    assert not [t for t in threading.enumerate() if t.name == "openenv-bridge"]


@pytest.mark.parametrize(
    ("events", "why"), [([], "before its turn was complete"), (["text"], "gave str")]
)
async def test_an_own_adapter_that_goes_wrong(events: list[Any], why: str) -> None:
    told = await one_turn(Scripted(*events))
    assert told["error_type"] == "harness_crashed"
    assert why in told["error"]


async def test_send_message_gives_the_whole_turn() -> None:
    chunk = HarnessEvent(type=HarnessEventType.LLM_CHUNK, data={"content": "o"})
    response = await Scripted(chunk, END).send_message("hi")
    assert (response.response, response.done, len(response.events)) == ("ok", True, 2)
    with pytest.raises(HarnessNotRunningError):
        await Scripted(chunk).send_message("hi")


async def test_a_rubric_judges_a_turn() -> None:
    seen: list[Any] = []

    def rubric(action: Any, observation: Any) -> float:
        seen.append((action.message, observation.metadata["response"]))
        return 0.25

    environment = HarnessEnvironment(Scripted(END), rubric=rubric)
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    assert observation.reward == 0.25
    assert seen == [("hi", "ok")]


async def test_a_rubric_that_breaks_is_no_zero_and_keeps_the_turn() -> None:
    def rubric(action: Any, observation: Any) -> float:
        raise ValueError("no verdict")

    environment = HarnessEnvironment(Scripted(END), rubric=rubric)
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    assert observation.reward is None
    assert "no verdict" in observation.metadata["reward_error"]["message"]
    assert observation.metadata["response"] == "ok"


async def test_an_agent_that_fails_has_no_reward_of_a_rubric() -> None:
    environment = HarnessEnvironment(Scripted(), rubric=lambda action, observation: 1.0)
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    assert observation.reward is None
    assert observation.metadata["reward_error"]["error"] == "harness_crashed"


@pytest.mark.parametrize(
    ("transport", "made"),
    [
        ("stdio", StdioHarnessAdapter),
        ("http", HTTPHarnessAdapter),
        ("mcp", MCPServerHarnessAdapter),
    ],
)
def test_a_transport_has_its_adapter(transport: str, made: type) -> None:
    assert type(adapter_for(config("rogue.py", "", "good", transport=transport))) is made
