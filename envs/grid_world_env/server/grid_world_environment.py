"""The grid that a server holds for each session."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from pydantic import Field

from grid_world_env.models import GridWorldAction, GridWorldObservation, GridWorldState, MoveAction
from grid_world_env.server import view
from grid_world_env.walk import GOAL_REWARD, STEP_REWARD, Placement, Walk
from openenv import Environment, Options, Seeds, errors
from openenv.env.web_html import WebAction

GUIDE = (
    f"You are A; go to G. A step costs {-STEP_REWARD}, the one to G pays "
    f"{GOAL_REWARD:g}; a step over the edge leads nowhere.\n"
    f"Actions: {', '.join(move.value for move in MoveAction)}"
)
WALK_OVER = "the walk is over and stays as it is; reset() begins the next one"


class GridWorldOptions(Options, variables="GRID_WORLD_"):
    """The options of an episode.

    Attributes:
        size: rows and columns.
        placement: `corners`, from `[0, 0]` to the opposite corner; `random`, from a cell to another
            one, both drawn from the seed.
        max_steps: the steps after which the episode is truncated.
    """

    size: int = Field(default=5, ge=2, le=32)
    placement: Placement = "corners"
    max_steps: int | None = Field(default=None, ge=1)


class GridWorldEnvironment(Environment[GridWorldAction, GridWorldObservation, GridWorldState]):
    """A walk to the goal: -0.1 for each step on the way, 1 for the one that gets there.

    Args:
        options: what holds for every episode unless `reset` says otherwise; by default what the
            variables `GRID_WORLD_...` say.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the last cell
    OPTIONS = GridWorldOptions
    HOST = "inline"  # a step computes next to nothing and never waits

    def __init__(self, options: GridWorldOptions | None = None) -> None:
        super().__init__()
        self._defaults = options or GridWorldOptions.from_variables()
        self._options = self._defaults
        self._seeds = Seeds()
        self._walk: Walk | None = None
        self._episode_id: str | None = None
        self._steps = 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> GridWorldObservation:
        """Begins a walk.

        Raises:
            errors.InvalidRequest: an option is unknown or impossible; the running walk goes on.
        """
        self._options = self._defaults.updated(options)
        seed = self._seeds.next(seed)
        walk = self._walk = Walk(self._options.size, self._options.placement, seed)
        self._episode_id, self._steps = episode_id or str(uuid4()), 0
        return self._observe(walk, f"Welcome to Grid World! Goal is at {list(walk.goal)}.")

    def step(
        self, action: GridWorldAction, timeout_s: float | None = None, **kwargs: Any
    ) -> GridWorldObservation:
        """Moves.

        Raises:
            errors.ResetRequired: no walk has begun yet.
        """
        walk = self._running()
        if self._is_over(walk):
            return self._observe(walk, self._message(walk), error=WALK_OVER)
        reward = walk.move(action.action)
        self._steps += 1
        return self._observe(walk, self._message(walk), reward)

    @property
    def state(self) -> GridWorldState:
        """Where the walk stands."""
        walk = self._walk
        if walk is None:
            return GridWorldState()
        x, y = walk.at
        return GridWorldState(
            episode_id=self._episode_id,
            step_count=self._steps,
            seed=walk.seed,
            x=x,
            y=y,
            goal=list(walk.goal),
            size=walk.size,
        )

    def render_web(self, observation: dict[str, Any]) -> str:
        """The grid, as HTML."""
        return view.draw(observation)

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """The moves, by arrow keys."""
        return view.actions(observation)

    def _running(self) -> Walk:
        if self._walk is None:
            raise errors.ResetRequired("no walk has begun yet; call reset() first")
        return self._walk

    def _is_over(self, walk: Walk) -> bool:
        return walk.is_over or self._out_of_steps

    @property
    def _out_of_steps(self) -> bool:
        return self._options.max_steps is not None and self._steps >= self._options.max_steps

    @staticmethod
    def _message(walk: Walk) -> str:
        return "You found the goal!" if walk.is_over else "Keep going..."

    def _observe(
        self, walk: Walk, message: str, reward: float = 0.0, **metadata: Any
    ) -> GridWorldObservation:
        x, y = walk.at
        refused = f"Refused: {metadata['error']}\n" if "error" in metadata else ""
        over = self._is_over(walk)
        guide = "" if over else f"\n{GUIDE}"
        return GridWorldObservation(
            done=over,
            truncated=self._out_of_steps and not walk.is_over,
            reward=reward,
            metadata={"seed": walk.seed, **metadata},
            x=x,
            y=y,
            message=message,
            goal=list(walk.goal),
            grid=walk.grid(),
            text=f"{refused}{message}\n{walk.text()}{guide}",
        )
