"""What a snake does and sees."""

from __future__ import annotations

from pydantic import Field

from openenv import Action, Observation, State


class SnakeAction(Action):
    """Where to turn, as seen by the snake.

    Attributes:
        action: 0 goes straight on, 1 turns left, 2 turns right.
    """

    action: int = Field(ge=0, le=2)


class SnakeObservation(Observation):
    """The field.

    Attributes:
        grid: the cells, row by row: 0 empty, 1 wall, 2 fruit, 3 body, 4 head, 5 tail.
        observation: the same for a network, `[row][column][plane]` of 0.0 and 1.0. The planes are
            wall, fruit, body, head, tail, and three for other snakes, which there are none of.
            Empty if the episode has `planes=False`.
        episode_score: the rewards of the episode so far.
        episode_steps: its steps so far.
        episode_fruits: the fruits that were eaten in it.
        episode_kills: always 0: there is no other snake.
        alive: whether the snake lives.
        heading: where it is going: `up`, `right`, `down` or `left`.
        text: all that a language model needs: why the last step was refused, if it was, the field
            with `#` wall, `*` fruit, `H` head, `o` body and tail, what pays, and the actions.
    """

    grid: list[list[int]]
    observation: list[list[list[float]]]
    episode_score: float = 0.0
    episode_steps: int = 0
    episode_fruits: int = 0
    episode_kills: int = 0
    alive: bool = True
    heading: str = ""
    text: str = ""


class SnakeState(State):
    """Where an episode stands.

    Attributes:
        seed: what settles the snake's first place and the fruits.
        score: the rewards so far.
        fruits: the fruits that were eaten.
        length: the snake's cells.
        alive: whether the snake lives.
    """

    seed: int | None = None
    score: float = 0.0
    fruits: int = 0
    length: int = 0
    alive: bool = True
