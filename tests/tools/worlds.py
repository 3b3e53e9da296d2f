"""Environments whose tools do what tools do, and what they should not."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

from openenv import Environment, Observation
from openenv.env.mcp_environment import MCPEnvironment
from openenv.env.tools import ToolContext, ToolFailure, tool

PNG = b"\x89PNG\r\n\x1a\n rest"
WAV = b"RIFF\x00\x00\x00\x00WAVE rest"
BLOB = b"\x00\xff no text"
GATE = threading.Event()
"""Lets go of what holds."""
HELD_S = 20.0
RAISED: dict[str, type[BaseException]] = {
    "ValueError": ValueError,
    "RecursionError": RecursionError,
    "SystemExit": SystemExit,
    "KeyboardInterrupt": KeyboardInterrupt,
}


class Point(BaseModel):
    """A model."""

    x: int
    y: float = 0.0


@dataclass
class Pair:
    """A dataclass."""

    left: int
    right: str


def spin(seconds: float) -> None:
    """Keeps Python busy."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


VALUES: dict[str, Any] = {
    "nothing": None,
    "nan": float("nan"),
    "large": "x" * 10_000_000,
    "model": Point(x=1),
    "dataclass": Pair(1, "b"),
    "array": np.array([[1, 2], [3, 4]]),
    "number": np.float64(0.5),
    "tuple": (1, "b"),
    "surrogate": "\ud800",
}


class Decorated(Environment):
    """Its tools are methods."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Observation:
        self._count = 0
        return Observation()

    @tool
    def increment(self, by: int = 1) -> int:
        """Adds to the counter.

        Args:
            by: how much.

        Returns:
            the counter.
        """
        self._count += by
        return self._count

    @tool
    def add(self, a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    @tool
    def fail(self, kind: str) -> None:
        """Raises."""
        raise RAISED[kind](f"a {kind}")

    @tool
    def refuse(self) -> None:
        """Tells the agent why not."""
        raise ToolFailure("not today")

    @tool
    def sleep(self, seconds: float) -> str:
        """Blocks, asleep."""
        time.sleep(seconds)
        return "slept"

    @tool
    def hold(self) -> str:
        """Blocks until it is let go."""
        return hold()

    @tool
    def spin(self, seconds: float) -> str:
        """Blocks, busy."""
        spin(seconds)
        return "spun"

    @tool
    async def wait(self, seconds: float) -> str:
        """Awaits."""
        await asyncio.sleep(seconds)
        return "waited"

    @tool
    def shout(self) -> str:
        """Prints."""
        print("for nobody", flush=True)  # noqa: T201
        return "shouted"

    @tool
    def value(self, which: str) -> Any:
        """Returns something."""
        return VALUES[which]

    @tool
    def picture(self, kind: Literal["png", "wav", "blob"]) -> bytes:
        """Returns bytes."""
        return {"png": PNG, "wav": WAV, "blob": BLOB}[kind]

    @tool
    def unsendable(self) -> object:
        """Returns what has no form on the wire."""
        return object()

    @tool
    def generator(self) -> Iterator[int]:
        """Gives no value, but a generator of some."""
        return (number for number in [1])

    @tool
    def named(
        self, tool: int, name: int, arguments: int, mode: int, context: int, kwargs: int
    ) -> list[int]:
        """Its arguments are called as those of our own functions."""
        return [tool, name, arguments, mode, context, kwargs]

    @tool
    def progress(self, context: ToolContext, steps: int = 3) -> str:
        """Reports how far it is."""
        for step in range(steps):
            context.report_progress(step + 1, steps, f"step {step + 1}")
        return "arrived"

    @tool(mode="simulation")
    def rehearse(self) -> str:
        """For trainers."""
        return "rehearsed"

    @tool(mode="production")
    def perform(self) -> str:
        """For agents that are at work."""
        return "performed"


def server_of_tools() -> FastMCP[Any]:
    """A FastMCP server with the same tools, but for those of one mode."""
    server: FastMCP[Any] = FastMCP("served")
    counter = [0]

    @server.tool
    def increment(by: int = 1) -> int:
        """Adds to the counter."""
        counter[0] += by
        return counter[0]

    for function in (add, fail, refuse, sleep, hold, wait, shout, named, progress):
        server.tool(function)
    server.tool(name="spin")(spun)
    return server


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def fail(kind: str) -> None:
    """Raises."""
    raise RAISED[kind](f"a {kind}")


def refuse() -> None:
    """Tells the agent why not."""
    raise ToolError("not today")


def sleep(seconds: float) -> str:
    """Blocks, asleep."""
    time.sleep(seconds)
    return "slept"


def hold() -> str:
    """Blocks until it is let go."""
    return "let go" if GATE.wait(HELD_S) else "forgotten"


def spun(seconds: float) -> str:
    """Blocks, busy."""
    spin(seconds)
    return "spun"


async def wait(seconds: float) -> str:
    """Awaits."""
    await asyncio.sleep(seconds)
    return "waited"


def shout() -> str:
    """Prints."""
    print("for nobody", flush=True)  # noqa: T201
    return "shouted"


def named(tool: int, name: int, arguments: int, mode: int, context: int) -> list[int]:
    """Its arguments are called as those of our own functions."""
    return [tool, name, arguments, mode, context]


async def progress(ctx: Context, steps: int = 3) -> str:
    """Reports how far it is."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
    return "arrived"


class Served(MCPEnvironment):
    """Its tools are a FastMCP server's."""

    def __init__(self) -> None:
        super().__init__(server_of_tools())

        @self.tool(mode="simulation")
        def rehearse() -> str:
            """For trainers."""
            return "rehearsed"

        @self.tool(mode="production")
        def perform() -> str:
            """For agents that are at work."""
            return "performed"

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Observation:
        return Observation()


class Plain(MCPEnvironment):
    """Nothing but a server's tools."""

    def __init__(self, server: Any = None) -> None:
        super().__init__(server or server_of_tools())

    def reset(self, **kwargs: Any) -> Observation:
        return Observation()


class Counting(Plain):
    """Its own step sees every call, as in packages that count steps."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def step(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Any:
        self.seen.append(type(action).__name__)
        return super().step(action, timeout_s=timeout_s, **kwargs)

    def _step_impl(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        return Observation(metadata={"own": True})
