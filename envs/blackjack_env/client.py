"""The typed client of the BlackJack environment."""

from __future__ import annotations

from blackjack_env.models import BlackJackAction, BlackJackObservation, BlackJackState
from openenv import EnvClient


class BlackJackEnv(EnvClient[BlackJackAction, BlackJackObservation, BlackJackState]):
    """A seat at a BlackJack table of one's own."""
