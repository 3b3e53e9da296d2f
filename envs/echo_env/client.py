"""The client of the echo environment."""

from __future__ import annotations

from echo_env.models import EchoAction, EchoObservation
from openenv import State
from openenv.core.mcp_client import MCPToolClient


class EchoEnv(MCPToolClient[EchoAction, EchoObservation, State]):
    """A session with an echo environment, for typed steps and for its tools alike."""
