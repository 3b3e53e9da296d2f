"""How a snake is led."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any turn."""
    return {"action": chance.randrange(3)}


CASE = Case(
    package="snake_env",
    environment="snake_env.server.snake_environment:SnakeEnvironment",
    client="snake_env:SnakeEnv",
    policy=policy,
    reset={"height": 8, "width": 9},
    invalid=(
        {},
        {"action": 3},
        {"action": -1},
        {"action": "left"},
        {"action": 0.5},
        {"action": None},
        {"action": [0]},
        {"action": 10**30},
        {"action": 1, "times": 2},
    ),
    bad_resets=(
        {"height": 5},
        {"width": 33},
        {"fruits": 0},
        {"fruits": 9},
        {"max_steps": 0},
        {"planes": "many"},
        {"length": 4},
    ),
    reward_range=(-0.999, 101.001),
)
