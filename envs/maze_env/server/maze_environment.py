"""The maze that a server holds for each session."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from maze_env.models import MazeAction, MazeObservation, MazeState
from maze_env.server import view
from maze_env.server.options import MazeOptions
from maze_env.trip import Trip
from openenv import Environment, Seeds, errors
from openenv.env.web_html import WebAction

TRIP_OVER = "the episode is over and stays as it is; reset() begins the next one"


class MazeEnvironment(Environment[MazeAction, MazeObservation, MazeState]):
    """A way out: 10 for the exit, and each step on the way costs.

    Args:
        options: what holds for every episode unless `reset` says otherwise; by default what the
            variables `MAZE_...` say.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the last cell
    OPTIONS = MazeOptions
    HOST = "inline"  # a step computes next to nothing and never waits

    def __init__(self, options: MazeOptions | None = None) -> None:
        super().__init__()
        self._defaults = options or MazeOptions.from_variables()
        self._seeds = Seeds()
        self._trip: Trip | None = None
        self._seed = 0
        self._episode_id: str | None = None
        self._steps = 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> MazeObservation:
        """Begins an episode at the start cell.

        Raises:
            errors.InvalidRequest: an option is unknown or impossible; the running episode goes on.
        """
        chosen = self._defaults.updated(options)
        if options.get("size") is not None and chosen.maze != "random":
            raise errors.InvalidRequest(
                f"reset does not take that: size={options['size']} is of maze='random' alone, "
                f"got maze={chosen.maze!r}"
            )
        seed = self._seeds.next(seed)
        maze = chosen.cells(seed)
        try:
            start, end = chosen.route(maze)
        except ValueError as error:
            raise errors.InvalidRequest(f"reset does not take that: {error}") from None
        self._trip, self._seed = Trip(maze, start, end), seed
        self._episode_id, self._steps = episode_id or str(uuid4()), 0
        return self._observe(self._trip)

    def step(
        self, action: MazeAction, timeout_s: float | None = None, **kwargs: Any
    ) -> MazeObservation:
        """Takes a step. One that is blocked leads nowhere, and costs.

        Raises:
            errors.ResetRequired: no episode has begun yet.
        """
        trip = self._running()
        if not trip.is_playing:
            return self._observe(trip, error=TRIP_OVER)
        legal = trip.legal_actions
        reward = trip.step(action.action)
        self._steps += 1
        if action.action in legal:
            return self._observe(trip, reward)
        blocked = f"{action.action} is blocked; legal are {', '.join(map(str, legal))}"
        return self._observe(trip, reward, error=blocked)

    @property
    def state(self) -> MazeState:
        """Where the episode stands."""
        trip = self._trip
        if trip is None:
            return MazeState(step_count=0)
        return MazeState(
            episode_id=self._episode_id,
            step_count=self._steps,
            done=not trip.is_playing,
            current_position=list(trip.at),
            exit_cell=list(trip.exit),
            status=trip.status,
            seed=self._seed,
        )

    def render_web(self, observation: dict[str, Any]) -> str:
        """The maze, as HTML."""
        return view.draw(observation)

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """The steps that nothing blocks, by arrow keys."""
        return view.actions(observation)

    def _running(self) -> Trip:
        if self._trip is None:
            raise errors.ResetRequired("no episode has begun yet; call reset() first")
        return self._trip

    def _observe(self, trip: Trip, reward: float = 0.0, **metadata: Any) -> MazeObservation:
        refused = f"Refused: {metadata['error']}\n" if "error" in metadata else ""
        told = {"maze": trip.cells(), "status": trip.status, "exit_cell": list(trip.exit)}
        return MazeObservation(
            done=not trip.is_playing,
            reward=reward,
            metadata={**told, "step": self._steps, "seed": self._seed, **metadata},
            legal_actions=trip.legal_actions,
            current_position=list(trip.at),
            previous_position=list(trip.previous),
            exit_cell=list(trip.exit),
            maze=trip.maze,
            status=trip.status,
            text=f"{refused}{trip.told()}",
        )
