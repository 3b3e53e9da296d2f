"""The server's side of the TextArena environment."""

from textarena_env.server.textarena_environment import TextArenaEnvironment

__all__ = ["TextArenaEnvironment"]
