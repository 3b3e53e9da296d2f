"""What one does and sees in the maze. Cells are `[column, row]`; `[0, 0]` is at the top left."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from openenv import Action, Observation, State

Status = Literal["playing", "win", "lose"]


class MazeAction(Action):
    """A step.

    Attributes:
        action: 0 up, 1 down, 2 left, 3 right.
    """

    action: int = Field(ge=0, le=3)


class MazeObservation(Observation):
    """Where one is.

    Attributes:
        legal_actions: the steps that no wall and no edge blocks; none once it is over.
        current_position: the cell that one is in.
        previous_position: the cell before it.
        exit_cell: the cell of the way out.
        maze: the cells, row by row; 1 is a wall.
        status: `playing`, `win`, or `lose`: too much was paid on the way.
        text: all that a language model needs: why the last step was refused, if it was, the maze
            with `A` where one is and `E` for the way out, what pays, and the legal actions.
    """

    legal_actions: list[int] = Field(default_factory=list)
    current_position: list[int] = Field(default_factory=list)
    previous_position: list[int] = Field(default_factory=list)
    exit_cell: list[int] = Field(default_factory=list)
    maze: list[list[int]] = Field(default_factory=list)
    status: Status = "playing"
    text: str = ""


class MazeState(State):
    """Where an episode stands.

    Attributes:
        done: whether it is over.
        current_position: the cell that one is in.
        exit_cell: the cell of the way out.
        status: `playing`, `win` or `lose`.
        seed: what settles the maze, where chance does.
    """

    step_count: int = Field(ge=0)
    done: bool = False
    current_position: list[int] = Field(default_factory=list)
    exit_cell: list[int] = Field(default_factory=list)
    status: str = "playing"
    seed: int | None = None
