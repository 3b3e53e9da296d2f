"""An environment that answers what it is told: the smallest one there is."""

from echo_env.client import EchoEnv
from echo_env.models import EchoAction, EchoObservation

__all__ = ["EchoAction", "EchoEnv", "EchoObservation"]
