"""The server's side of the Snake environment."""

from snake_env.server.snake_environment import SnakeEnvironment

__all__ = ["SnakeEnvironment"]
