"""The server's side of the 2048 environment."""

from game_2048_env.server.game_2048_environment import Game2048Environment

__all__ = ["Game2048Environment"]
