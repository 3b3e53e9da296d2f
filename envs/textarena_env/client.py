"""The typed client of the TextArena environment."""

from __future__ import annotations

from openenv import EnvClient
from textarena_env.models import TextArenaAction, TextArenaObservation, TextArenaState


class TextArenaEnv(EnvClient[TextArenaAction, TextArenaObservation, TextArenaState]):
    """A player of a text game; of one with several players, all of them in turn."""
