"""The typed client of the Snake environment."""

from __future__ import annotations

from openenv import EnvClient
from snake_env.models import SnakeAction, SnakeObservation, SnakeState


class SnakeEnv(EnvClient[SnakeAction, SnakeObservation, SnakeState]):
    """A snake of one's own."""
