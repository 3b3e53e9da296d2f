"""How Connect Four is played."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any column that is not full."""
    return {"column": chance.choice(seen["legal_actions"])}


CASE = Case(
    package="connect4_env",
    environment="connect4_env.server.connect4_environment:Connect4Environment",
    client="connect4_env:Connect4Env",
    policy=policy,
    reset={"opponent": "random", "illegal_move": "refuse"},
    illegal=({"column": 7}, {"column": -1}, {"column": 10**30}),
    invalid=(
        {},
        {"column": "middle"},
        {"column": 1.5},
        {"column": None},
        {"column": [1]},
        {"column": 1, "player": 2},
    ),
    bad_resets=(
        {"opponent": "human"},
        {"opponent": "search", "depth": 0},
        {"opponent": "search", "depth": 7},
        {"plays_first": False},
        {"opponent": "none", "plays_first": False},
        {"illegal_move": "allow"},
        {"player": -1},
    ),
    reward_range=(-1.0, 1.0),
)
