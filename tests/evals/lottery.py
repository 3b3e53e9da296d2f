"""A lottery whose draws are the seed's, and trajectories of it that need no server."""

import random
from collections.abc import Sequence
from typing import Any, Literal

from openenv import Action, Environment, InvalidRequest, Observation, State
from openenv.rollout import Beginning, Trajectory, Transition


class Bet(Action):
    """What is done with the ticket."""

    ticket: Literal["sell", "keep", "tear", "hide", "wait", "forge"]


class Draw(Observation):
    """What is seen of the draw."""

    text: str = ""
    is_success: bool | None = None


class Lottery(Environment[Bet, Draw, State]):
    """Selling gives 0.5; keeping 1 or 0, as the seed draws. Other tickets do what they say."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> Draw:
        if options.get("closed"):
            raise InvalidRequest("the lottery is closed")
        self._wins = random.Random(seed).random() < options.get("chance", 0.5)
        return Draw(text=f"ticket {seed}")

    def step(self, action: Bet, timeout_s: float | None = None, **kwargs: Any) -> Draw:
        match action.ticket:
            case "sell":
                return Draw(text="sold", reward=0.5, done=True, is_success=True)
            case "keep":
                return Draw(reward=float(self._wins), done=True, is_success=self._wins)
            case "tear":
                raise InvalidRequest("tickets are not torn")
            case "hide":
                why = {"reward_error": {"message": "nobody drew"}}
                return Draw(done=True, metadata=why)
            case "wait":
                return Draw(text="waited", reward=0.0)
            case _:
                return Draw(reward=0.25, done=True, truncated=True)

    @property
    def state(self) -> State:
        return State()


def played(
    rewards: Sequence[float | None] = (1.0,), seed: int | None = 0, **fields: Any
) -> Trajectory:
    """A trajectory with a step for each reward."""
    steps = [
        Transition(
            action={"ticket": f"t{number}"},
            observation={"text": f"seen {number}"},
            reward=reward,
            terminated=number == len(rewards),
            latency_ms=500.0,
        )
        for number, reward in enumerate(rewards, 1)
    ]
    own = {
        "episode_id": f"ep-{seed}",
        "environment": {"name": "lottery", "version": "1"},
        "openenv_version": "1",
        "policy": "anyone",
        "options": {},
        "started_at": "2030-01-01T00:00:00+00:00",
        "reset": Beginning(observation={"text": f"ticket {seed}"}, latency_ms=1000.0),
        "steps": steps,
        "end": "terminated",
    }
    return Trajectory(seed=seed, **{**own, **fields})
