"""verifiers: its taskset's calls, and those of its older form, against servers of both kinds."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from echo_env.server.echo_environment import EchoEnvironment
from openenv import GenericEnvClient
from openenv.core import CallToolAction
from openenv.core.mcp_client import MCPToolClient
from tests.serving import Served, eventually, serving
from tests.tools.tools_only import Shop


@pytest.fixture
def served(made: Any) -> Iterator[Served]:
    with serving(made) as served:
        yield served
        eventually(lambda: served.openenv.active_sessions == 0)


@pytest.mark.parametrize(("made", "has_tools_alone"), [(EchoEnvironment, False), (Shop, True)])
async def test_its_taskset_reads_the_schema_and_plays_plain_dicts(
    served: Served, has_tools_alone: bool
) -> None:
    client: Any = GenericEnvClient(base_url=f"http://127.0.0.1:{served.port}")
    async with client:
        assert client._base_url == f"http://127.0.0.1:{served.port}"
        schema = served.http("GET", "/schema").json()["action"]
        of_tools = schema.get("title") in {"Action", "CallToolAction", "ListToolsAction"}
        assert of_tools is has_tools_alone
        action: dict[str, Any] = {"message": "hi"}
        if of_tools:
            listed = await client.step({"type": "list_tools"})
            assert json.loads(json.dumps(listed.observation))["tools"][0]["name"]
            name = listed.observation["tools"][0]["name"]
            action = {"type": "call_tool", "tool_name": name, "arguments": {}}
        result = await client.reset(seed=3)
        assert isinstance(json.loads(json.dumps(result.observation)), dict)
        result = await client.step(action)
        assert json.dumps({"observation": result.observation, "action_schema": schema})
        assert result.done in (True, False)


async def test_its_older_form_lists_and_calls_tools() -> None:
    with serving(EchoEnvironment) as served:
        client: Any = MCPToolClient(base_url=f"http://127.0.0.1:{served.port}")
        await client.connect()
        await client.reset(seed=1)
        tools = await client.list_tools()
        assert {each.name for each in tools} == {"echo_message", "echo_with_length"}
        call = CallToolAction(tool_name="echo_message", arguments={"message": "hi"})
        result = await client.step(call)
        assert result.observation.result["data"] == "hi"
        await client.close()
        eventually(lambda: served.openenv.active_sessions == 0)
