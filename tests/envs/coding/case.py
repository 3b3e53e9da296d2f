"""How code is written for the coding environment."""

import random

from tests.envs.case import Case, Json

SNIPPETS = (
    "print('Hello, World!')",
    "import random\nrandom.random()",
    "import random\n[random.randrange(100) for _ in range(5)]",
    "total = sum(range(101))\ntotal",
    "print(sorted({'b', 'c', 'a'}))\n{'b', 'c', 'a'}",
    "1 / 0",
    "import os\nos.getcwd()",
    "import sys\nsys.exit(3)",
    "def broken(:",
    "eval('6 * 7')",
    "",
)


def policy(seen: Json, chance: random.Random) -> Json:
    """A piece of code: good, bad or empty."""
    return {"code": chance.choice(SNIPPETS)}


CASE = Case(
    package="coding_env",
    environment="coding_env.server.coding_environment:PythonCodeActEnv",
    client="coding_env:CodingEnv",
    policy=policy,
    invalid=(
        {},
        {"code": 5},
        {"code": None},
        {"code": "x", "language": "python"},
        {"code": "x" * 100_001},
    ),
    bad_resets=(
        {"executor": "docker"},
        {"code_timeout_s": 0},
        {"memory_mb": "plenty"},
        {"imports": 5},
        {"tests": "assert ("},
        {"executor": "smolagents", "isolation": "strict"},
        {"colour": "white"},
    ),
    reset={"max_steps": 12},
    steps=20,
    reward_range=(-1.2, 0.1),
)
