"""The server's side of the FinRL environment."""

from finrl_env.server.finrl_environment import FinRLEnvironment

__all__ = ["FinRLEnvironment"]
