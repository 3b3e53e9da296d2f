"""The server's side of the coding environment."""

from coding_env.server.coding_environment import PythonCodeActEnv

__all__ = ["PythonCodeActEnv"]
