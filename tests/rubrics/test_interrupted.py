"""A rubric that never answers, in a call of a tool that has had its time."""

import asyncio
from typing import Any

import pytest

from openenv.env.environment import Environment, HostKind
from openenv.env.models import Observation
from openenv.env.tools import tool
from openenv.protocol.messages import Request
from tests.runtime.seats import serving


async def _never(action: Any, observation: Any) -> float:
    await asyncio.Event().wait()
    return 1.0


class Judged(Environment):
    """One of its tools is judged, for ever."""

    REQUIRES_RESET = False

    def __init__(self) -> None:
        super().__init__(rubric=_never)

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def hand_in(self) -> Observation:
        """Is judged."""
        observation: Observation = self.rewarded(None, Observation())
        return observation

    @tool
    def look(self) -> str:
        """Is not."""
        return "a view"


@pytest.mark.parametrize("kind", ["inline", "thread", "process"])
async def test_a_call_whose_rubric_hangs_holds_the_session_no_longer(kind: HostKind) -> None:
    async with serving(Judged, kind, typed=False, tool_timeout=0.3) as sessions:
        seat = await sessions.open()
        late = await seat.ask(Request("call_tool", {"tool_name": "hand_in", "arguments": {}}))
        assert b"timed out after 0.3 s" in late.body
        look = Request("call_tool", {"tool_name": "look", "arguments": {}}, 30.0)
        assert b"a view" in (await seat.ask(look)).body
