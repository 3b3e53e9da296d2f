"""What the Atari environment can be told, by variables and by `reset`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator
from typing_extensions import Self

from atari_env.games import rom_id
from atari_env.models import ObsType
from openenv import Options

_VARIABLES = {"game_name": "ATARI_GAME", "repeat_action_probability": "ATARI_REPEAT_ACTION_PROB"}


class AtariOptions(Options, variables="ATARI_"):
    """A game, and how it is played and seen.

    Attributes:
        game_name: a ROM id (`space_invaders`), or an id of Gymnasium's (`ALE/SpaceInvaders-v5`).
        obs_type: what is observed: the screen in colours or in greys, or the console's memory.
        full_action_space: all 18 actions are legal, not just those that the game reads.
        mode: one of the game's modes; `None` is its first.
        difficulty: one of the game's difficulties; `None` is its first.
        repeat_action_probability: how likely a frame repeats the action of the frame before it,
            whatever the step says ("sticky actions").
        frameskip: frames in a step; its reward is their sum.
        noop_max: an episode begins with 1 to this many steps of NOOP, as the seed has it; 0 for
            none.
        max_num_frames_per_episode: frames after which an episode is truncated; 0 for no limit.
        terminal_on_life_loss: the loss of a life ends the episode.
        obs_format: the observation is a list of numbers, a tensor or a PNG file.
    """

    game_name: str = Field(default="pong", max_length=100)
    obs_type: ObsType = "rgb"
    full_action_space: bool = False
    mode: int | None = Field(default=None, ge=0, lt=2**31)
    difficulty: int | None = Field(default=None, ge=0, lt=2**31)
    repeat_action_probability: float = Field(default=0.0, ge=0, le=1)
    frameskip: int = Field(default=4, ge=1, le=64)
    noop_max: int = Field(default=0, ge=0, le=128)
    max_num_frames_per_episode: int = Field(default=108_000, ge=0, lt=2**31)
    terminal_on_life_loss: bool = False
    obs_format: Literal["list", "tensor", "png"] = "list"

    @classmethod
    def variable(cls, name: str) -> str:
        """The environment variable that a field is read from."""
        return _VARIABLES.get(name) or super().variable(name)

    @field_validator("game_name")
    @classmethod
    def _exists(cls, name: str) -> str:
        return rom_id(name)

    @model_validator(mode="after")
    def _can_be_drawn(self) -> Self:
        if self.obs_type == "ram" and self.obs_format == "png":
            raise ValueError("the memory (obs_type='ram') is no picture: obs_format='png' has none")
        return self
