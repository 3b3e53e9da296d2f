"""The server's side of the OpenSpiel environment."""

from openspiel_env.server.openspiel_environment import OpenSpielEnvironment

__all__ = ["OpenSpielEnvironment"]
