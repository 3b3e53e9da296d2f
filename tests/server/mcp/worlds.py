"""Environments whose tools do on request what a server has to cope with."""

import time
from typing import Any

from openenv.env.environment import Environment
from openenv.env.models import Action, Observation, State
from openenv.env.tools import ToolContext, tool


class Noted(Observation):
    """What a step of the world gives."""

    note: str = ""


class Shed(Environment[Action, Noted, State]):
    """A counter, and tools that go wrong in every way."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def reset(self, seed: int | None = None, **kwargs: Any) -> Noted:
        self.count = 0
        return Noted(note="ready")

    def step(self, action: Action, **kwargs: Any) -> Noted:
        return Noted(note="stepped")

    @tool
    def inc(self) -> int:
        """Counts one further."""
        self.count += 1
        return self.count

    @tool
    def add(self, a: int, b: int = 1) -> int:
        """Adds two numbers.

        Args:
            a: the first.
            b: the second.
        """
        return a + b

    @tool
    def fail(self) -> None:
        """Raises."""
        raise ValueError("the shed is on fire")

    @tool
    def win(self) -> Noted:
        """Ends the episode."""
        return Noted(note="won", reward=1.0, done=True)

    @tool
    def show(self) -> bytes:
        """A picture."""
        return b"\x89PNG\r\n\x1a\n"

    @tool
    def big(self, size: int) -> str:
        """So many characters."""
        return "x" * size

    @tool
    def undocumented(self, value: Any = None) -> Any:
        return value

    @tool
    def crawl(self, steps: int, context: ToolContext) -> str:
        """Reports each of its steps."""
        for step in range(1, steps + 1):
            context.report_progress(step, steps, f"step {step}")
        return "arrived"

    @tool
    async def wait(self, seconds: float) -> str:
        """Awaits."""
        import asyncio

        await asyncio.sleep(seconds)
        return "awake"

    @tool
    def nap(self, seconds: float) -> str:
        """Blocks, in small pieces."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.01)
        self.count += 100
        return "rested"


class Cold(Environment[Action, Noted, State]):
    """It cannot be built."""

    def __init__(self) -> None:
        raise RuntimeError("no wood")

    def reset(self, **kwargs: Any) -> Noted:
        return Noted()

    def step(self, action: Action, **kwargs: Any) -> Noted:
        return Noted()

    @tool
    def inc(self) -> int:
        """Never."""
        return 0
