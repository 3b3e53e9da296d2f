"""The typed client of the 2048 environment."""

from __future__ import annotations

from game_2048_env.models import Game2048Action, Game2048Observation, Game2048State
from openenv import EnvClient


class Game2048Env(EnvClient[Game2048Action, Game2048Observation, Game2048State]):
    """A board of 2048 of one's own."""
