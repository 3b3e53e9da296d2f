"""What a walker on the grid does and sees."""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from openenv import Action, Observation, State


class MoveAction(str, Enum):
    """A step to a neighbouring cell. Up and down change x, left and right change y."""

    UP = "UP"
    DOWN = "DOWN"
    LEFT = "LEFT"
    RIGHT = "RIGHT"


class GridWorldAction(Action):
    """A move.

    Attributes:
        action: where to; a move over the edge leaves the walker where it is.
    """

    action: MoveAction


class GridWorldObservation(Observation):
    """Where the walker is.

    Attributes:
        done: whether the walk is over.
        reward: what the move paid; 0 for a reset.
        x: the walker's row, from 0 at the top.
        y: its column, from 0 at the left.
        message: what happened.
        goal: the goal's `[x, y]`.
        grid: the cells, row by row: 0 is free, 1 the walker, 2 the goal.
        text: all that a language model needs: why the last move was refused, if it was, the grid
            with `A` for the walker and `G` for the goal, what pays, and the actions.
    """

    done: bool = False
    reward: float = 0.0
    x: int
    y: int
    message: str = ""
    goal: list[int] = Field(default_factory=list)
    grid: list[list[int]] = Field(default_factory=list)
    text: str = ""


class GridWorldState(State):
    """Where a walk stands.

    Attributes:
        seed: what settles the cells, where chance does.
        x: the walker's row.
        y: its column.
        goal: the goal's `[x, y]`.
        size: rows and columns.
    """

    seed: int | None = None
    x: int = 0
    y: int = 0
    goal: list[int] = Field(default_factory=list)
    size: int = 5
