"""GenericEnvClient: a client of any environment, in plain dicts."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from openenv.client.codec import fields_of, observed, step_result
from openenv.client.env_client import EnvClient
from openenv.client.results import StepResult
from openenv.protocol.errors import ConfigurationError, Json


class GenericAction(dict[str, Any]):
    """An action by its fields: `GenericAction(message="hi")`."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"GenericAction({fields})"


class GenericEnvClient(EnvClient[Any, Json, Json]):
    """A client that needs no models: actions, observations and states are plain dicts."""

    _reads_msgpack = True

    def _step_payload(self, action: Any) -> Json:
        if isinstance(action, dict):
            return dict(action)
        if isinstance(action, BaseModel):
            return fields_of(action)
        try:
            return dict(vars(action))
        except TypeError:
            raise ConfigurationError(
                f"an action must be a dict or have fields, got {type(action).__name__}"
            ) from None

    def _parse_result(self, payload: Json) -> StepResult[Json]:
        return step_result(observed(payload), payload)

    def _parse_state(self, payload: Json) -> Json:
        return payload
