"""Actions and observations as plain data."""

from openenv.env.serialization import deserialize_action, serialize_observation

__all__ = [
    "deserialize_action",
    "serialize_observation",
]
