"""What an episode of 2048 can be told."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from openenv import Options


class Game2048Options(Options, variables="GAME_2048_"):
    """The options of an episode.

    Attributes:
        size: rows and columns.
        target_tile: the tile that wins the game; without one it goes on until no move is left.
        probability_fours: how probable it is that a new tile is a 4 and not a 2.
        reward: `score` pays the tiles that merged, `success` pays how the game ended.
        max_steps: the steps after which an episode is truncated, at no move's cost.
        strategy_timeout_s: the time that a strategy has for a game.
    """

    size: int = Field(default=4, ge=2, le=8)
    target_tile: int | None = Field(default=None, ge=8)
    probability_fours: float = Field(default=0.1, ge=0.0, le=1.0)
    reward: Literal["score", "success"] = "score"
    max_steps: int | None = Field(default=None, ge=1)
    strategy_timeout_s: float = Field(default=2.0, gt=0.0, le=60.0)

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        target = self.target_tile
        if target is None:
            if self.reward == "success":
                raise ValueError("reward='success' needs a target_tile, such as 2048")
        elif target & (target - 1):
            raise ValueError(f"target_tile is a power of two, got {target}")
        elif target > 2 ** (self.size**2 + 1):
            raise ValueError(f"no board of size {self.size} can hold a tile {target}")
        return self
