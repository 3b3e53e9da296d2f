"""How the grid world is walked."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any move."""
    return {"action": chance.choice(["UP", "DOWN", "LEFT", "RIGHT"])}


CASE = Case(
    package="grid_world_env",
    environment="grid_world_env.server.grid_world_environment:GridWorldEnvironment",
    client="grid_world_env:GridWorldEnv",
    policy=policy,
    reset={"placement": "random", "size": 4, "max_steps": 40},
    invalid=(
        {},
        {"action": "up"},
        {"action": "NORTH"},
        {"action": 0},
        {"action": None},
        {"action": ["UP"]},
        {"action": "UP", "times": 2},
    ),
    bad_resets=(
        {"size": 1},
        {"size": 33},
        {"size": "large"},
        {"placement": "middle"},
        {"max_steps": 0},
        {"goal": [1, 1]},
    ),
    reward_range=(-0.1, 1.0),
)
