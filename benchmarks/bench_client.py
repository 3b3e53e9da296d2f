"""The client an author writes for `bench_env`, in the form both packages run."""

from typing import Any

from bench_env import BenchAction, BenchObservation

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import State


class BenchClient(EnvClient[BenchAction, BenchObservation, State]):
    """Client of BenchEnv."""

    def _step_payload(self, action: BenchAction) -> dict[str, Any]:
        return action.model_dump(exclude={"metadata"})

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[BenchObservation]:
        observation = BenchObservation(
            **payload["observation"], reward=payload["reward"], done=payload["done"]
        )
        return StepResult(observation=observation, reward=observation.reward, done=observation.done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)
