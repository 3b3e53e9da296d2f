"""The server's side of the chess environment: all that needs a chess library."""

from openenv import needs

with needs("openenv-chess-env[server]"):
    from chess_env.server.chess_environment import ChessEnvironment

__all__ = ["ChessEnvironment"]
