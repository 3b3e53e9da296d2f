"""Environments that show themselves on a page, well or badly, as a test asks of them."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, ClassVar

import numpy as np

from openenv import Action, Environment, NDArray, Observation, tool


class Show(Action):
    """Names what the view of this step does."""

    view: str = "well"


class Scene(Observation):
    """What there is to show."""

    text: str = ""
    thread: int = 0
    pid: int = 0
    pixels: Annotated[Any, NDArray("uint8", (2, 2))] | None = None


UP = ("up", {"view": "well"}, "ArrowUp")
RELEASED = threading.Event()
"""Ends the stubborn views of this process."""


@contextmanager
def released_at_last() -> Iterator[None]:
    """Stubborn views end with the block, where that can be told to them."""
    RELEASED.clear()
    try:
        yield
    finally:
        RELEASED.set()


class Stubbornness:
    """How long a view ignores that it is given up: for ever, a little, or not at all."""

    def __init__(self, view: str) -> None:
        self._view = view
        self._ends_at = time.monotonic() + 0.5

    @property
    def lasts(self) -> bool:
        if self._view == "lingers":
            return time.monotonic() < self._ends_at
        return self._view == "stubborn" and not RELEASED.is_set()


def html_for(observation: dict[str, Any]) -> Any:
    """What `render_web` gives for an observation whose text names a trick."""
    match observation["text"]:
        case "raises":
            raise KeyError("board")
        case "exits":
            raise SystemExit(3)
        case "dies":
            os._exit(7)
        case "no text":
            return {"html": "<b>"}
        case "huge":
            return "x" * (5 << 20)
        case "surrogate":
            return "\udcff"
        case "nothing" | "huge in bytes" as text:
            return None if text == "nothing" else "é" * (3 << 20)
    here = f"{threading.get_ident()} {os.getpid()}"
    return f"<b>{sorted(observation)} {observation['reward']} {observation['done']}</b>{here}"


def actions_for(observation: dict[str, Any]) -> Any:
    """What `web_actions` gives for it."""
    bad: dict[str, Any] = {
        "no list": {"up": {}},
        "no pair": [("up",)],
        "no label": [(1, {})],
        "no action": [("up", "up")],
        "no key": [("up", {}, 38)],
        "too many": [UP] * 201,
        "huge label": [("x" * (5 << 20), {})],
        "unsendable": [("up", {"lock": threading.Lock()})],
        "actions raise": None,
    }
    if observation["text"] == "actions raise":
        raise ValueError("no moves")
    return bad.get(observation["text"], [UP, ["down", {"view": "raises"}]])


class Shown(Environment[Show, Scene]):
    """Its views do as the last step said."""

    REQUIRES_RESET = False
    views: ClassVar[int] = 0

    def reset(self, **options: Any) -> Scene:
        return self.step(Show())

    def step(self, action: Show) -> Scene:
        pixels = np.zeros((2, 2), np.uint8) if action.view == "pixels" else None
        here = threading.get_ident(), os.getpid()
        done = action.view == "end"
        while action.view == "hanging step":
            time.sleep(0.01)
        return Scene(
            text=action.view, thread=here[0], pid=here[1], pixels=pixels, reward=0.5, done=done
        )

    def render_web(self, observation: dict[str, Any]) -> Any:
        Shown.views += 1
        while observation["text"] == "hangs":
            time.sleep(0.01)
        stubbornness = Stubbornness(observation["text"])
        while stubbornness.lasts:
            with suppress(BaseException):
                while stubbornness.lasts:
                    time.sleep(0.01)
        return html_for(observation)

    def web_actions(self, observation: dict[str, Any]) -> Any:
        return actions_for(observation)


class ShownLater(Shown):
    """The same for those who await."""

    async def reset_async(self, **options: Any) -> Scene:
        return self.reset(**options)

    async def step_async(self, action: Show) -> Scene:
        return self.step(action)

    async def render_web(self, observation: dict[str, Any]) -> Any:
        Shown.views += 1
        await asyncio.sleep(0)
        if observation["text"] == "hangs":
            await asyncio.Event().wait()
        stubbornness = Stubbornness(observation["text"])
        while stubbornness.lasts:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        return html_for(observation)

    async def web_actions(self, observation: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return actions_for(observation)


class Plain(Shown):
    """Shows nothing."""

    render_web = Environment.render_web
    web_actions = Environment.web_actions


class ShownTools(Environment):
    """Has tools, and shows what came of them."""

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def add(self, a: int) -> int:
        """Adds one."""
        return a + 1

    @tool(timeout_s=0.3)
    def hang(self) -> None:
        """Hangs."""
        while True:
            time.sleep(0.01)

    def render_web(self, observation: dict[str, Any]) -> str:
        return ",".join(sorted(observation))
