"""The server's side of the BlackJack environment."""

from blackjack_env.server.blackjack_environment import BlackJackEnvironment

__all__ = ["BlackJackEnvironment"]
