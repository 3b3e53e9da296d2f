"""Actions and observations as plain data."""

from openenv.env.serialization import (
    deserialize_action,
    deserialize_action_with_preprocessing,
    serialize_observation,
)

__all__ = [
    "deserialize_action",
    "deserialize_action_with_preprocessing",
    "serialize_observation",
]
