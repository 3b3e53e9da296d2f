"""The typed client of the echo environment."""

from __future__ import annotations

from echo_env.models import EchoAction, EchoObservation
from openenv import EnvClient, State


class EchoEnv(EnvClient[EchoAction, EchoObservation, State]):
    """A session with an echo environment."""
