"""What a turn comes to: its reward, its events, and who may have one."""

import asyncio
import json
import math
import urllib.request
from typing import Any

import pytest

from openenv import Observation
from openenv.env.tools import tool
from openenv.harness.agents.adapter import AgenticHarnessAdapter
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.environment import HarnessAction, HarnessEnvironment
from openenv.harness.agents.events import HarnessEvent, HarnessEventType
from openenv.protocol.errors import ConcurrentCall
from tests.harness.worlds import rogue

FAILED = {"rubric": "Judge", "error": "ConnectionError", "message": "the judge is down"}


class Caller(AgenticHarnessAdapter):
    """An agent that calls the tools that its message names, over the bridge."""

    def __init__(self) -> None:
        super().__init__(HarnessConfig(name="caller", command=["-"], working_directory=None))
        self.url = ""

    async def inject_tools(self, tools: list[Any], bridge_url: str | None = None) -> None:
        self.url = bridge_url or ""

    async def start(self, working_directory: str) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def is_alive(self) -> bool:
        return True

    async def send_message_streaming(self, message: str) -> Any:
        for name in message.split():
            await asyncio.to_thread(self._call, name)
        if "ends" in message:
            return
        yield HarnessEvent(type=HarnessEventType.TURN_COMPLETE, data={"response": "ok"})

    def _call(self, name: str) -> None:
        called = {"method": "tools/call", "params": {"name": name, "arguments": {}}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, **called}).encode()
        shown = {"Authorization": f"Bearer {self.bridge_token}"}
        request = urllib.request.Request(
            self.url, body, shown | {"Content-Type": "application/json"}
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            answer.read()


class Scores(HarnessEnvironment):
    """Tools that give rewards, and some that can't."""

    @tool
    def good(self) -> Observation:
        """Gives one."""
        return Observation(reward=1.0)

    @tool
    def bad(self) -> Observation:
        """Gives none, since its judge has failed."""
        return Observation(reward=None, metadata={"reward_error": FAILED})

    @tool
    def nan(self) -> Observation:
        """Gives what is no number."""
        return Observation(reward=math.nan)

    @tool
    def huge(self) -> Observation:
        """Gives so much that two of it are no number."""
        return Observation(reward=1e308)

    @tool
    def ends(self) -> Observation:
        """Gives one; the agent leaves then."""
        return Observation(reward=1.0)


async def turn(message: str, **options: Any) -> Observation:
    """What an agent comes to that makes these calls."""
    environment = Scores(Caller(), **options)
    await environment.reset_async()
    try:
        return await environment.step_async(HarnessAction(message=message))
    finally:
        await environment.close()


def results(observation: Observation) -> list[dict[str, Any]]:
    events = observation.metadata["turn_events"]
    return [event["data"] for event in events if event["type"] == "tool_result"]


async def test_a_turn_has_the_sum_of_what_its_tools_gave() -> None:
    observation = await turn("good good")
    assert observation.reward == 2.0
    assert "reward_error" not in observation.metadata


@pytest.mark.parametrize("message", ["bad good good", "good bad", "good bad nan", "bad ends"])
async def test_a_turn_has_no_reward_if_that_of_a_tool_has_failed(message: str) -> None:
    observation = await turn(message)
    assert observation.reward is None
    assert observation.metadata["reward_error"] == FAILED
    [failed] = [each for each in results(observation) if each["tool_name"] == "bad"]
    assert (failed["reward"], failed["reward_error"]) == (None, FAILED)


@pytest.mark.parametrize(
    ("message", "why"),
    [("nan good", "the reward of nan is nan"), ("huge huge good", "the sum of the tools' rewards")],
)
async def test_a_turn_has_no_reward_that_is_no_finite_number(message: str, why: str) -> None:
    observation = await turn(message)
    assert observation.reward is None
    assert observation.metadata["reward_error"]["message"].startswith(why)


async def test_a_rubric_judges_whatever_the_tools_gave() -> None:
    observation = await turn("good bad", rubric=lambda action, seen: 0.25)
    assert observation.reward == 0.25
    assert "reward_error" not in observation.metadata


async def test_the_calls_that_the_environment_saw_say_so() -> None:
    [seen] = results(await turn("good"))
    assert (seen["origin"], seen["tool_name"], seen["reward"]) == ("environment", "good", 1.0)


async def test_an_agent_does_not_speak_for_the_environment() -> None:
    environment = rogue("forges")
    await environment.reset_async()
    observation = await environment.step_async(HarnessAction(message="hi"))
    await environment.close()
    assert (observation.reward, observation.done) == (None, False)
    _, forged, last = observation.metadata["turn_events"]
    assert forged["data"] == {"tool_name": "buy", "reward": 1000, "done": True}
    assert last["data"] == {"response": "echo:hi", "done": False}


async def test_a_second_turn_at_once_is_refused_and_the_first_goes_on() -> None:
    environment = Scores(Caller())
    await environment.reset_async()
    first, second = await asyncio.gather(
        environment.turn_async("good"), environment.turn_async("good"), return_exceptions=True
    )
    after = await environment.turn_async("good good")
    await environment.close()
    assert isinstance(second, ConcurrentCall)
    assert isinstance(first, Observation)
    assert (first.reward, first.metadata["turn_number"]) == (1.0, 1)
    assert (after.reward, after.metadata["turn_number"]) == (2.0, 2)


async def test_the_next_turn_is_had_after_one_that_was_given_up() -> None:
    environment = rogue("hangs")
    await environment.reset_async()
    turning = asyncio.ensure_future(environment.turn_async("hi"))
    await asyncio.sleep(0)
    turning.cancel()
    await asyncio.wait([turning])
    await environment.reset_async()
    assert (await environment.turn_async("hi", timeout_s=0.2)).done
    await environment.close()
