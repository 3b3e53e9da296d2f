"""The server's side of the Atari environment."""

from atari_env.server.atari_environment import AtariEnvironment

__all__ = ["AtariEnvironment"]
