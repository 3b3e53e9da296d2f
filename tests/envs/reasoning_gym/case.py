"""How questions are answered."""

import random
import re

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """One of the question's numbers, or a small one."""
    numbers = re.findall(r"\d+", seen["question"] or "")
    return {"answer": chance.choice([*numbers, "3"])}


CASE = Case(
    package="reasoning_gym_env",
    needs=("reasoning_gym",),
    environment="reasoning_gym_env.server.reasoning_gym_environment:ReasoningGymEnvironment",
    client="reasoning_gym_env:ReasoningGymEnv",
    policy=policy,
    invalid=(
        {},
        {"answer": None},
        {"answer": 5},
        {"answer": ["5"]},
        {"answer": "5" * 30_000},
        {"answer": "5", "score": 1.0},
    ),
    bad_resets=(
        {"dataset_name": "leg_count"},
        {"dataset_name": "x" * 1000},
        {"dataset_name": "composite"},
        {"dataset_name": "gcd", "dataset_specs": [{"name": "gcd"}]},
        {"dataset_specs": [{"name": "lcd"}]},
        {"dataset_specs": [{"name": "gcd", "weight": -1}]},
        {"dataset_config": {"min_animals": -3}},
        {"dataset_config": {"legs": 8}},
        {"size": 0},
        {"size": 1 << 40},
        {"dataset": "gcd"},
    ),
    reward_range=(0.0, 1.0),
)
