"""The client of `tiny`, as authors write one; it runs under both packages."""

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from tests.interop.tiny import TinyAction, TinyObservation, TinyState


class TinyClient(EnvClient[TinyAction, TinyObservation, TinyState]):
    def _step_payload(self, action: TinyAction) -> dict[str, Any]:
        return {"message": action.message, "n": action.n}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TinyObservation]:
        observation = TinyObservation(
            **payload.get("observation", {}),
            reward=payload.get("reward"),
            done=payload.get("done", False),
        )
        return StepResult(
            observation=observation,
            reward=payload.get("reward"),
            done=payload.get("done", False),
        )

    def _parse_state(self, payload: dict[str, Any]) -> TinyState:
        return TinyState(**payload)
