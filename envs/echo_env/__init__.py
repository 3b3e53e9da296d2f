"""An environment that answers what it is told: the smallest one there is."""

from echo_env.client import EchoEnv
from echo_env.models import EchoAction, EchoObservation
from openenv import CallToolAction, ListToolsAction

__all__ = ["CallToolAction", "EchoAction", "EchoEnv", "EchoObservation", "ListToolsAction"]
