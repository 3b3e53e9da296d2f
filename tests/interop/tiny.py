"""A small environment that does on request what a client has to cope with.

It runs unchanged under this package and under the peer.
"""

from typing import Any

from pydantic import Field

from openenv.core.env_server import Action, Environment, Observation, State

MILLION = 1_000_000


class TinyAction(Action):
    message: str = Field(min_length=1)
    n: int = Field(default=1, ge=0, le=5)


class TinyObservation(Observation):
    echoed: str = ""
    n: int = 0


class TinyState(State):
    last: str | None = None


class TinyEnv(Environment[TinyAction, TinyObservation, TinyState]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = TinyState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> TinyObservation:
        if "boom" in kwargs:
            raise RuntimeError("reset exploded")
        self._state = TinyState(episode_id=episode_id, step_count=0)
        return TinyObservation(
            echoed=f"ready seed={seed} {sorted(kwargs)}", reward=0.0, metadata={"msg": "hello"}
        )

    def step(
        self, action: TinyAction, timeout_s: float | None = None, **kwargs: Any
    ) -> TinyObservation:
        if action.message == "explode":
            raise ValueError("step exploded")
        self._state.step_count += 1
        self._state.last = action.message[:10]
        echoed = "x" * (action.n * MILLION) if action.message == "big" else action.message
        rewards = {"noreward": None, "nan": float("nan")}
        return TinyObservation(
            echoed=echoed,
            n=action.n,
            done=action.message == "quit",
            reward=rewards.get(action.message, float(action.n)),
        )

    @property
    def state(self) -> TinyState:
        return self._state
