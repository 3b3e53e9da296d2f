"""The server's side of the echo environment."""

from echo_env.server.echo_environment import EchoEnvironment

__all__ = ["EchoEnvironment"]
