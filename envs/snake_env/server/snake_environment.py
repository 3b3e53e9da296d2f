"""The snake that a server holds for each session."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from pydantic import Field

from openenv import Environment, Options, Seeds, errors
from openenv.env.web_html import WebAction
from snake_env.arena import HEADINGS, NAMES, Arena
from snake_env.models import SnakeAction, SnakeObservation, SnakeState
from snake_env.server import view

GUIDE = (
    "You are the snake: H is its head, o its body. Eat *, which pays 1; # or o ahead is the end, "
    "which costs 1.\nActions, as seen by the snake: "
    + ", ".join(f"{action} {name}" for action, name in enumerate(NAMES))
)
SNAKE_OVER = "the episode is over and stays as it is; reset() begins the next one"


class SnakeOptions(Options, variables="SNAKE_"):
    """The options of an episode.

    Attributes:
        height: rows of the field, with the wall.
        width: columns of the field, with the wall.
        fruits: how many lie in the field at a time.
        max_steps: the steps after which the episode is truncated.
        planes: whether observations have their `observation` for a network: 13 kB of JSON.
    """

    height: int = Field(default=20, ge=6, le=32)
    width: int = Field(default=20, ge=6, le=32)
    fruits: int = Field(default=1, ge=1, le=8)
    max_steps: int = Field(default=1000, ge=1)
    planes: bool = True


class SnakeEnvironment(Environment[SnakeAction, SnakeObservation, SnakeState]):
    """A snake: 1 for a fruit, -1 for the end, 100 for a full field, 0.001 for every step.

    Args:
        options: what holds for every episode unless `reset` says otherwise; by default what the
            variables `SNAKE_...` say.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the last field
    OPTIONS = SnakeOptions
    HOST = "inline"  # a step computes little and never waits

    def __init__(self, options: SnakeOptions | None = None) -> None:
        super().__init__()
        self._defaults = options or SnakeOptions.from_variables()
        self._options = self._defaults
        self._seeds = Seeds()
        self._arena: Arena | None = None
        self._state = SnakeState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> SnakeObservation:
        """Begins an episode.

        Raises:
            errors.InvalidRequest: an option is unknown or impossible; the running episode goes on.
        """
        chosen = self._options = self._defaults.updated(options)
        seed = self._seeds.next(seed)
        self._arena = Arena(chosen.height, chosen.width, chosen.fruits, seed)
        self._state = SnakeState(
            episode_id=episode_id or str(uuid4()), seed=seed, length=len(self._arena.snake)
        )
        return self._observe(self._arena)

    def step(
        self, action: SnakeAction, timeout_s: float | None = None, **kwargs: Any
    ) -> SnakeObservation:
        """Goes on by a cell.

        Raises:
            errors.ResetRequired: no episode has begun yet.
        """
        arena, state = self._running(), self._state
        if self._is_over(arena):
            return self._observe(arena, error=SNAKE_OVER)
        reward = arena.step(action.action)
        state.step_count += 1
        state.score += reward
        state.fruits, state.length, state.alive = arena.eaten, len(arena.snake), arena.alive
        return self._observe(arena, reward)

    @property
    def state(self) -> SnakeState:
        """Where the episode stands."""
        return self._state

    def render_web(self, observation: dict[str, Any]) -> str:
        """The field, as HTML."""
        return view.draw(observation)

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """The turns, each by the arrow key of where it goes."""
        return view.actions(observation)

    def _running(self) -> Arena:
        if self._arena is None:
            raise errors.ResetRequired("no episode has begun yet; call reset() first")
        return self._arena

    def _is_over(self, arena: Arena) -> bool:
        return arena.is_over or self._out_of_steps

    @property
    def _out_of_steps(self) -> bool:
        return self._state.step_count >= self._options.max_steps

    def _observe(self, arena: Arena, reward: float = 0.0, **metadata: Any) -> SnakeObservation:
        state, heading = self._state, HEADINGS[arena.heading]
        told = f"heading {heading}, {arena.eaten} eaten, {'alive' if arena.alive else 'dead'}"
        refused = f"Refused: {metadata['error']}\n" if "error" in metadata else ""
        over = self._is_over(arena)
        guide = "" if over else f"\n{GUIDE}"
        return SnakeObservation(
            done=over,
            truncated=self._out_of_steps and not arena.is_over,
            reward=reward,
            metadata={"seed": state.seed, **metadata},
            grid=arena.grid,
            observation=arena.planes() if self._options.planes else [],
            episode_score=state.score,
            episode_steps=state.step_count,
            episode_fruits=arena.eaten,
            alive=arena.alive,
            heading=heading,
            text=f"{refused}{arena.text()}\n{told}{guide}",
        )
