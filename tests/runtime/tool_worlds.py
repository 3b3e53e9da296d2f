"""An environment whose tools do what a test asks of them, also in a process of their own."""

import asyncio
import os
import sys
import threading
import time
from typing import ClassVar

from openenv import Environment, Observation, ToolContext, ToolFailure, tool


class Tools(Environment):
    """Well and badly behaved tools."""

    count = 0
    released: ClassVar[threading.Event] = threading.Event()

    def reset(self, seed: int | None = None) -> Observation:
        self.count = 0
        return Observation()

    @tool
    def add(self, a: int, b: int = 1) -> int:
        """Adds two numbers."""
        return a + b

    @tool
    def increment(self) -> int:
        """Counts the calls of this episode."""
        self.count += 1
        return self.count

    @tool
    def finish(self) -> Observation:
        """Ends the episode."""
        return Observation(reward=0.5, done=True, metadata={"why": "asked"})

    @tool
    async def tell(self, times: int, context: ToolContext) -> str:
        """Reports its progress."""
        for number in range(times):
            context.report_progress(number + 1, times, f"part {number + 1}")
        return "told"

    @tool
    def tell_blocking(self, times: int, context: ToolContext) -> str:
        """Reports its progress without awaiting."""
        for number in range(times):
            context.report_progress(number + 1, times)
        return "told"

    @tool
    async def wait(self, seconds: float) -> str:
        """Awaits."""
        await asyncio.sleep(seconds)
        return "waited"

    @tool
    def spin(self, seconds: float) -> str:
        """Computes in Python."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass
        return "spun"

    @tool
    def sleep(self, seconds: float) -> str:
        """Blocks in a call of the system's."""
        time.sleep(seconds)
        return "slept"

    @tool(timeout_s=0.2)
    async def hasty(self) -> None:
        """Has little time by its own account."""
        await asyncio.sleep(60)

    @tool
    def refuse(self) -> None:
        """Says no."""
        raise ToolFailure("not today")

    @tool
    def fail(self) -> None:
        """Raises what holds a secret."""
        raise ValueError("could not open /srv/keys")

    @tool
    def exit(self) -> None:
        """Wants to end the program."""
        sys.exit(3)

    @tool
    def die(self) -> None:
        """Ends its process."""
        os._exit(7)

    @tool
    def speak(self) -> str:
        """Prints."""
        sys.stdout.write("on stdout\n")
        return "spoken"

    @tool(name="who", mode="production")
    def who_acts(self) -> str:
        """Tells whom it is for."""
        return "agent"

    @tool(name="who", mode="simulation")
    def who_trains(self) -> str:
        """Tells whom it is for."""
        return "trainer"
