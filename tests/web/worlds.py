"""Environments to look at: with fields of all kinds, with pictures, with hostile words."""

from __future__ import annotations

import base64
import struct
import threading
import zlib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from openenv import Action, Environment, Observation, State, tool
from openenv.env.metadata import EnvironmentMetadata

PWNED = "window.pwned=(window.pwned||0)+1;parent.pwned=1;top.pwned=1"
SCRIPT = f"<script>{PWNED}</script>"
HOSTILE = (
    f"{SCRIPT}<img src=x onerror='{PWNED}'><svg onload='{PWNED}'><a href=\"javascript:{PWNED}\">"
    f"press me</a><iframe srcdoc=\"{SCRIPT}\"></iframe><form action='javascript:{PWNED}'>"
    f"<button>send</button></form><base href='https://example.org/'><details open "
    f"ontoggle='{PWNED}'>x</details><meta http-equiv=refresh content='0;url=javascript:{PWNED}'>"
    "<style>@import 'https://example.org/x.css';*{display:none!important}</style>"
)
MARKDOWN = (
    f'# Title\n\n[press me](javascript:{PWNED})\n\n![x](x"onerror="{PWNED})\n\n{HOSTILE}\n\n'
    f"<javascript:{PWNED}>\n\n[data](data:text/html;base64,{base64.b64encode(SCRIPT.encode()).decode()})"
)


class Circle(BaseModel):
    """Round."""

    kind: Literal["circle"] = "circle"
    radius: float = Field(default=1.0, gt=0, description="How far it reaches")


class Box(BaseModel):
    """Not round."""

    kind: Literal["box"] = "box"
    width: int = Field(default=1, ge=1, le=9)
    height: int = Field(default=1, ge=1, le=9)


class Draw(Action):
    """Everything that a form can hold."""

    title: str = Field(min_length=1, max_length=20, description="What it is called")
    style: Literal["solid", "dotted"] = "solid"
    shape: Annotated[Circle | Box, Field(discriminator="kind")] = Field(default_factory=Circle)
    points: list[int] = Field(default_factory=list, max_length=3)
    filled: bool = False
    note: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class Drawn(Observation):
    """What was drawn."""

    got: dict[str, Any] = Field(default_factory=dict)


class DrawingState(State):
    """How much was drawn."""

    drawn: int = 0


class Drawing(Environment[Draw, Drawn, DrawingState]):
    """Shows what it was told. Refuses what a schema can't say: the title 'forbidden'."""

    def __init__(self) -> None:
        super().__init__()
        self._state = DrawingState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, paper: str = "plain"
    ) -> Drawn:
        """Takes a new sheet.

        Args:
            seed: without effect.
            episode_id: the sheet's name.
            paper: its kind.
        """
        self._state = DrawingState(episode_id=episode_id)
        return Drawn(got={"seed": seed, "paper": paper})

    def step(self, action: Draw, timeout_s: float | None = None, **kwargs: Any) -> Drawn:
        """Draws."""
        if action.title == "forbidden":
            raise ValueError("nobody may draw that")
        self._state.step_count += 1
        self._state.drawn += 1
        return Drawn(got=action.model_dump(mode="json"), reward=float(len(action.points)))

    @property
    def state(self) -> DrawingState:
        """How much was drawn."""
        return self._state


class Paint(Action):
    """A colour."""

    red: int = Field(default=200, ge=0, le=255)


class Painted(Observation):
    """A picture in two forms."""

    pixels: list[list[list[int]]] = Field(default_factory=list)
    picture: str = ""


class Painting(Environment[Paint, Painted, State]):
    """Shows a picture as an array, and as a PNG."""

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Painted:
        """A dark picture."""
        return self._paint(0)

    def step(self, action: Paint, timeout_s: float | None = None, **kwargs: Any) -> Painted:
        """Paints it."""
        return self._paint(action.red)

    @property
    def state(self) -> State:
        """Nothing to know."""
        return State()

    def _paint(self, red: int) -> Painted:
        pixels = [[[red, 8 * x, 8 * y] for x in range(32)] for y in range(24)]
        return Painted(pixels=pixels, picture=f"data:image/png;base64,{_png(pixels)}", reward=0.0)


class Say(Action):
    """What is to be shown, by its name."""

    what: Literal["html", "markdown", "keys", "long", "deep", "numbers", "wide"] = "html"


class Shown(Observation):
    """Hostile words."""

    text: str = ""
    value: Any = None


class Hostile(Environment[Say, Shown, State]):
    """Says what no page should run, wherever an environment can say something."""

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Shown:
        """Begins."""
        return Shown(text=HOSTILE, metadata={HOSTILE: HOSTILE})

    def step(self, action: Say, timeout_s: float | None = None, **kwargs: Any) -> Shown:
        """Says it."""
        return Shown(text=SAYINGS.get(action.what, ""), value=VALUES.get(action.what), reward=1.0)

    @property
    def state(self) -> State:
        """Hostile, too."""
        return State(episode_id=HOSTILE)

    @tool
    def call(self, text: str = HOSTILE) -> str:
        """<script>window.pwned=1</script> <img src=x onerror=window.pwned=1>"""
        return HOSTILE

    def get_metadata(self) -> EnvironmentMetadata:
        """Hostile, too."""
        return EnvironmentMetadata(
            name=HOSTILE,
            description=HOSTILE,
            readme_content=MARKDOWN,
            documentation_url="javascript:0",
        )

    def render_web(self, observation: dict[str, Any]) -> str | None:
        """Hostile, too."""
        return f"<p>the view</p>{HOSTILE}"

    def web_actions(self, observation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Hostile, too."""
        return [(HOSTILE, {"what": "html"})]


def _nested(depth: int) -> Any:
    value: Any = "the bottom"
    for _ in range(depth):
        value = {"in": value}
    return value


SAYINGS = {"html": HOSTILE, "markdown": MARKDOWN, "long": "a long line of words " * 250_000}
VALUES: dict[str, Any] = {
    "keys": {"__proto__": {"pwned": 1}, "constructor": {"prototype": 1}, HOSTILE: HOSTILE},
    "deep": _nested(150),
    "numbers": list(range(200_000)),
    "wide": {f"key {n}": n for n in range(20_000)},
}


class Wait(Action):
    """Waits for the test."""

    text: str = ""


class Gate(Environment[Wait, Shown, State]):
    """Steps wait until a test lets them go on."""

    opened = threading.Event()
    entered = threading.Event()
    steps = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Shown:
        """Begins."""
        return Shown(text="at the gate")

    def step(self, action: Wait, timeout_s: float | None = None, **kwargs: Any) -> Shown:
        """Waits."""
        type(self).steps += 1
        self.entered.set()
        assert self.opened.wait(50)
        return Shown(text=f"through with {action.text}", reward=1.0)

    @property
    def state(self) -> State:
        """Nothing to know."""
        return State()


def _png(pixels: list[list[list[int]]]) -> str:
    """The pixels, each row of RGB, as a PNG in base64."""
    rows = b"".join(b"\0" + bytes(channel for pixel in row for channel in pixel) for row in pixels)
    head = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    parts = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()
