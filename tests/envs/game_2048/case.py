"""How 2048 is played."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any legal move."""
    return {"move": chance.choice(seen["legal_moves"])}


CASE = Case(
    package="game_2048_env",
    environment="game_2048_env.server.game_2048_environment:Game2048Environment",
    client="game_2048_env:Game2048Env",
    policy=policy,
    reset={"size": 3, "target_tile": 32},
    illegal=({"move": "W"}, {"move": "up"}, {"move": 0}),
    invalid=(
        {},
        {"move": "X"},
        {"move": ""},
        {"move": 4},
        {"move": -1},
        {"move": True},
        {"move": 1.5},
        {"move": ["W"]},
        {"move": "W" * 10_000},
        {"move": "W", "strategy": "def strategy(board): return 'W'"},
        {"strategy": "#" * 20_001},
        {"move": "W", "times": 2},
    ),
    bad_resets=(
        {"size": 1},
        {"size": 9},
        {"target_tile": 100},
        {"size": 2, "target_tile": 2048},
        {"reward": "success"},
        {"probability_fours": 1.5},
        {"strategy_timeout_s": 0},
        {"max_steps": 0},
        {"target": 2048},
    ),
    reward_range=(0.0, 3932156.0),
)
