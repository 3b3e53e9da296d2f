"""Agents of other people, from npm and PyPI, unmodified: their turns, and nothing left of them.

Installs half a gigabyte, so it runs where it is asked for: `make test-agents`.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv import Action, Environment, Observation, State
from openenv.env.tools import tool
from openenv.harness.agents.acp import ACPHarnessAdapter
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.environment import HarnessAction, HarnessEnvironment
from openenv.testing.model_server import Call, ModelServer, Received, Reply
from tests.harness.worlds import MARK, nothing_is_left
from tests.serving import serving

pytestmark = [
    pytest.mark.skipif(not os.environ.get("OPENENV_TEST_AGENTS"), reason="make test-agents"),
    pytest.mark.timeout(900),
]

NPM = ("opencode-ai@1.18.33", "@qwen-code/qwen-code@0.15.10")
PYPI = ("smolagents[mcp,openai]==1.26.0", "mcp<2", "websockets")
ANSWER = "The sum is 42."
FINAL = "final_answer"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the agents of npm are."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    place = tmp_path_factory.mktemp("npm")
    command = ["npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", *NPM]
    subprocess.run(command, check=True, timeout=600, capture_output=True)
    yield place / "node_modules/.bin"
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Python that has the agent of PyPI."""
    place = tmp_path_factory.mktemp("pypi")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, timeout=120)
    pip = [str(place / "bin/pip"), "install", "--quiet", *PYPI]
    subprocess.run(pip, check=True, timeout=600, capture_output=True)
    yield place / "bin/python"
    shutil.rmtree(place)


def model(name: str) -> ModelServer:
    """One that adds two numbers with the environment's tool, as that agent calls it."""

    def script(received: Received) -> Reply:
        tools = [each["function"]["name"] for each in received.body.get("tools", [])]
        last = received.messages[-1]
        if "again" in received.text:
            return Reply("Gladly.")
        if last["role"] == "tool" or "Observation:" in received.text:
            return (
                Reply(calls=[Call(FINAL, {"answer": ANSWER})]) if FINAL in tools else Reply(ANSWER)
            )
        return Reply("Let me see.", [Call(name, {"a": 2, "b": 40})]) if tools else Reply("A title")

    return ModelServer(script)


class Sums(HarnessEnvironment):
    """A world with one tool."""

    @tool
    def add(self, a: int, b: int) -> Observation:
        """Adds two numbers."""
        return Observation(reward=float(a + b))


def opencode(url: str) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "any"},
        "models": {"test-model": {}},
    }
    config = {
        **{"autoupdate": False, "share": "disabled", "provider": {"local": provider}},
        **{"model": "local/test-model", "small_model": "local/test-model"},
    }
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def qwen(url: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "test-model"}


AGENTS: dict[str, tuple[list[str], Any, str]] = {
    "opencode": (["opencode", "acp"], opencode, "openenv_add"),
    "qwen": (["qwen", "--acp", "--auth-type", "openai"], qwen, "mcp__openenv__add"),
}


@pytest.mark.parametrize("name", AGENTS)
async def test_an_agent_of_the_agent_client_protocol(
    programs: Path, tmp_path: Path, name: str
) -> None:
    (program, *arguments), variables, call = AGENTS[name]
    mark = uuid.uuid4().hex
    with model(call) as server:
        config = HarnessConfig(
            name=name,
            command=[str(programs / program), *arguments],
            working_directory=None,
            env_vars={**variables(server.url), "HOME": str(tmp_path), MARK: mark},
            startup_timeout_s=120,
            session_timeout_s=120,
        )
        around = Sums(ACPHarnessAdapter(config))
        try:
            await around.reset_async()
            first = await around.step_async(HarnessAction(message="Add 2 and 40."))
            second = await around.step_async(HarnessAction(message="And again."))
        finally:
            await around.close()
    nothing_is_left(mark)
    assert first.metadata["response"] == ANSWER, first.metadata
    assert first.reward == 42.0
    seen = {each["type"] for each in first.metadata["turn_events"]}
    assert {"tool_call", "tool_result", "llm_chunk", "turn_complete"} <= seen
    assert second.metadata["response"] == "Gladly."


class Adder(Environment[Action, Observation, State]):
    """The same as an environment that is served."""

    def __init__(self) -> None:
        super().__init__()
        self._state = State()

    def reset(self, *args: Any, **kwargs: Any) -> Observation:
        return Observation()

    def step(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        return Observation()

    @property
    def state(self) -> State:
        return self._state

    @tool
    def add(self, a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b


SMOLAGENTS = """
import sys

from smolagents import MCPClient, OpenAIServerModel, ToolCallingAgent

model = OpenAIServerModel("test-model", api_base=f"{sys.argv[1]}/v1", api_key="any")
address = {"url": sys.argv[2], "transport": "streamable-http"}
with MCPClient(address, structured_output=False) as tools:
    print(ToolCallingAgent(tools=tools, model=model, max_steps=3).run("Add 2 and 40."))
"""


async def test_smolagents(python: Path, tmp_path: Path) -> None:
    with serving(Adder) as server, model("add") as language:
        command = [
            str(python),
            "-c",
            SMOLAGENTS,
            language.url,
            f"http://127.0.0.1:{server.port}/mcp",
        ]
        done = await asyncio.to_thread(
            subprocess.run,
            command,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == ANSWER
        results = [each.text for each in language.requests]
        assert any("42" in text for text in results[1:])
