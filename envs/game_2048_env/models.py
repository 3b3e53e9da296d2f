"""What a player of 2048 does and sees."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import PydanticCustomError

from game_2048_env.board import Status
from game_2048_env.rules import NAMES, Move, parse_move
from game_2048_env.strategy import MAX_CODE
from openenv import Action, Observation, State

MoveName = Literal["up", "right", "down", "left", "W", "D", "S", "A", 0, 1, 2, 3]
_WORDS = TypeAdapter[Move | None](Move | None)
"""What a form offers: each move once."""
Reason = Literal[
    "success",
    "game_over",
    "illegal_answer",
    "stuck",
    "timeout",
    "exception",
    "refused",
    "forbidden_import",
]


def _as_word(move: object) -> Move | None:
    try:
        return None if move is None else parse_move(move)
    except ValueError:  # who tells of it adds what was received
        raise PydanticCustomError("no_move", f"a move is {NAMES}") from None


class Game2048Action(Action):
    """A move, or a strategy that plays the game to its end; one of the two.

    A move is also taken as `W`, `A`, `S`, `D`, of any case, or as an id: 0 (up), 1 (right),
    2 (down), 3 (left). Whatever was given, it reads as the word.

    Attributes:
        move: where all tiles slide: `up`, `right`, `down` or `left`.
        strategy: Python code, `def strategy(board): ...`, which is asked for each move.
    """

    move: Annotated[
        MoveName | None, BeforeValidator(_as_word), WithJsonSchema(_WORDS.json_schema())
    ] = None
    strategy: str | None = Field(default=None, max_length=MAX_CODE, validate_default=True)

    @field_validator("strategy")
    @classmethod
    def _one_of_two(cls, strategy: str | None, told: ValidationInfo) -> str | None:
        if "move" in told.data and (told.data["move"] is None) == (strategy is None):
            raise PydanticCustomError("one_of_two", "give a move or a strategy, one of the two")
        return strategy


class StrategyResult(BaseModel):
    """How far a strategy came.

    Attributes:
        steps: how many answers it gave.
        score: the sum of the tiles that it merged.
        board: the tiles when it stopped, row by row.
        highest_tile: the greatest of them.
        status: where the game stands.
        reason: what stopped it. `success`: the target is reached; `game_over`: no move is left;
            `illegal_answer`: it returned no move; `stuck`: its moves changed nothing, too often in
            a row; `timeout`: its time was up; `exception`: it raised, or its process died;
            `refused` and `forbidden_import`: it is no strategy, and nothing of it was run.
        error: what is wrong with it, with the line of its code; empty if nothing is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int
    score: int
    board: list[list[int]]
    highest_tile: int
    status: Status
    reason: Reason
    error: str = ""


class Game2048Observation(Observation):
    """The board.

    Attributes:
        board: the tiles, row by row; 0 is an empty cell.
        score: the sum of all tiles that were merged in this episode.
        highest_tile: the greatest tile.
        legal_moves: the moves that change the board; none once the game is over.
        legal_actions: the ids of these moves.
        status: `ongoing`, `success` (the target is reached) or `failed`.
        strategy: how far a strategy came, after a step that ran one.
        text: the board, the score and the legal moves for a language model; above them what was
            wrong with the last step, if anything was.
    """

    board: list[list[int]] = Field(default_factory=list)
    score: int = 0
    highest_tile: int = 0
    legal_moves: list[Move] = Field(default_factory=list)
    legal_actions: list[int] = Field(default_factory=list)
    status: Status = "ongoing"
    strategy: StrategyResult | None = None
    text: str = ""


class Game2048State(State):
    """Where a game stands.

    Attributes:
        seed: what settles the new tiles.
        score: the sum of all tiles that were merged.
        highest_tile: the greatest tile.
        status: `ongoing`, `success` or `failed`.
        target_tile: the tile that wins the game, if there is one.
    """

    seed: int | None = None
    score: int = 0
    highest_tile: int = 0
    status: Status = "ongoing"
    target_tile: int | None = None
