"""The server's side of the Connect Four environment."""

from connect4_env.server.connect4_environment import Connect4Environment

__all__ = ["Connect4Environment"]
