"""How BlackJack is played."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any legal move."""
    return {"move": chance.choice(seen["legal_actions"])}


CASE = Case(
    package="blackjack_env",
    environment="blackjack_env.server.blackjack_environment:BlackJackEnvironment",
    client="blackjack_env:BlackJackEnv",
    policy=policy,
    invalid=({"move": "double"}, {"move": ""}, {}, {"move": 1}, {"move": "hit", "bet": 5}),
    reward_range=(-1.0, 1.0),
)
