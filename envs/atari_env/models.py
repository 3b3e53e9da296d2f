"""What an Atari player does and sees."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from openenv import Action, NDArray, Observation, State

ObsType = Literal["rgb", "grayscale", "ram"]

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
"""An array of bytes, of any shape."""
FlatBytes = Annotated[Bytes, NDArray("uint8", (None,))]
ShapedBytes = Annotated[Bytes, NDArray("uint8")]
NOTHING: Bytes = np.empty(0, np.uint8)
NOTHING.flags.writeable = False


class AtariAction(Action):
    """What the joystick does for the frames of a step.

    Attributes:
        action_id: a place in `AtariObservation.legal_actions`.
        game_name: not looked at: the game is the server's, or an option of `reset`.
        obs_type: not looked at, likewise.
        full_action_space: not looked at, likewise.
    """

    action_id: int
    game_name: str = Field(default="pong", max_length=100)
    obs_type: ObsType = "rgb"
    full_action_space: bool = False


class AtariObservation(Observation):
    """What is on the screen, or in the console's memory.

    The option `obs_format` says in which one of three fields it is: `screen` (`"list"`), `frame`
    (`"tensor"`) or `png`; the others are empty. The first two are arrays of uint8. They cross the
    wire as raw bytes in MessagePack, and as the lists of numbers that other clients expect in JSON.

    Attributes:
        screen: the numbers in a row.
        screen_shape: `[210, 160, 3]` for rgb, `[210, 160]` for grayscale, `[128]` for ram; some
            games have more lines than 210, up to 250.
        legal_actions: the numbers of the actions, from 0; `metadata["action_meanings"]` are their
            names.
        lives: lives that are left; 0 in games that have none.
        episode_frame_number: frames since the game began.
        frame_number: the same, since each reset begins a game anew.
        frame: the numbers in the shape `screen_shape`.
        png: an image file.
        score: the points since the game began.
        text: what a language model needs to play on, but for the picture: why the last action was
            refused, if it was, how the game stands, the actions and what they are for.
    """

    screen: FlatBytes
    screen_shape: list[int]
    legal_actions: list[int]
    lives: int = 0
    episode_frame_number: int = 0
    frame_number: int = 0
    frame: ShapedBytes = Field(default_factory=lambda: NOTHING)
    png: bytes = b""
    score: int = 0
    text: str = ""

    @property
    def pixels(self) -> Bytes:
        """The screen or the memory as an array of the shape `screen_shape`; nothing is copied.

        Raises:
            ValueError: it came as a PNG file, which is in `png`.
        """
        if self.png:
            raise ValueError("these pixels are in a PNG file: read `png`, or reset otherwise")
        return self.frame if self.frame.size else self.screen.reshape(self.screen_shape)


class AtariState(State):
    """Which game is played, and how it stands.

    Attributes:
        game_name: the game's ROM id.
        obs_type: what is observed.
        full_action_space: whether all 18 actions are legal, not just those that the game reads.
        mode: the game's mode, `None` for its first.
        difficulty: its difficulty, `None` for its first.
        repeat_action_probability: how likely a frame repeats the action of the frame before it.
        frameskip: frames in a step.
        seed: the seed that plays this game again.
        score: the points since the game began.
    """

    game_name: str = "pong"
    obs_type: ObsType = "rgb"
    full_action_space: bool = False
    mode: int | None = None
    difficulty: int | None = None
    repeat_action_probability: float = 0.0
    frameskip: int = 4
    seed: int | None = None
    score: int = 0
