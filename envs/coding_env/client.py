"""The typed client of the coding environment."""

from __future__ import annotations

from coding_env.models import CodeAction, CodeObservation, CodeState
from openenv import EnvClient


class CodingEnv(EnvClient[CodeAction, CodeObservation, CodeState]):
    """A Python session of one's own on a server."""
