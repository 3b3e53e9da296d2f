"""The typed client of the Connect Four environment."""

from __future__ import annotations

from connect4_env.models import Connect4Action, Connect4Observation, Connect4State
from openenv import EnvClient


class Connect4Env(EnvClient[Connect4Action, Connect4Observation, Connect4State]):
    """A board of Connect Four of one's own."""
