"""BlackJack against a dealer who stands on 17."""

from blackjack_env.client import BlackJackEnv
from blackjack_env.models import BlackJackAction, BlackJackObservation, BlackJackState

__all__ = ["BlackJackAction", "BlackJackEnv", "BlackJackObservation", "BlackJackState"]
