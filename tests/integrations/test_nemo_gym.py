"""NeMo Gym: environments by dotted names, in its own process, stepped inside a running loop."""

import importlib
from typing import Any

from openenv.core.env_server.mcp_types import ListToolsAction


def named(path: str) -> Any:
    """A class by the path that a configuration file says."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


async def test_tools_are_listed_and_called_by_steps() -> None:
    env = named("echo_env.server.echo_environment.EchoEnvironment")()
    env.reset()
    tools = {each.name: each.input_schema for each in env.step(ListToolsAction()).tools}
    assert tools["echo_message"]["properties"]["message"]["type"] == "string"
    action = named("openenv.core.env_server.mcp_types.CallToolAction")
    seen = env.step(action(tool_name="echo_message", arguments={"message": "hi"}))
    assert (seen.result["data"], seen.error, seen.done, seen.reward) == ("hi", None, False, None)
    env.close()


async def test_actions_are_stepped_and_observations_dumped() -> None:
    maze = named("maze_env.server.maze_env_environment.MazeEnvironment")()
    assert maze.reset().done is False
    seen = maze.step(named("maze_env.models.MazeAction")(action=1))
    assert isinstance(seen.reward, float) and "legal_actions" in seen.model_dump()
    maze.close()
    python = named("coding_env.server.python_codeact_env.PythonCodeActEnv")()
    python.reset()
    seen = python.step(named("coding_env.models.CodeAction")(code="print(6 * 7)"))
    assert seen.model_dump()["stdout"] == "42\n"
    python.close()
