"""How a maze is walked."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any step that is not blocked."""
    return {"action": chance.choice(seen["legal_actions"])}


CASE = Case(
    package="maze_env",
    environment="maze_env.server.maze_environment:MazeEnvironment",
    client="maze_env:MazeEnv",
    policy=policy,
    reset={"maze": "random", "size": 7},
    illegal=({"action": 0}, {"action": 2}),
    invalid=(
        {},
        {"action": 4},
        {"action": -1},
        {"action": "up"},
        {"action": 1.5},
        {"action": None},
        {"action": [1]},
        {"action": 10**30},
        {"action": 1, "times": 2},
    ),
    bad_resets=(
        {"size": 8},
        {"size": 3},
        {"size": 33},
        {"maze": "large"},
        {"maze": "classic", "start_cell": [2, 0]},
        {"maze": "random", "layout": [[0, 0], [0, 0]]},
        {"maze": "random", "start_cell": [1, 1]},
        {"start_cell": [-1, 0]},
        {"start_cell": [0]},
        {"start_cell": [7, 7]},
        {"exit_cell": [99, 99]},
        {"maze": "classic", "layout": [[0, 1], [1, 0]]},
        {"maze": "classic", "layout": [[0, 0], [0]]},
        {"maze": "classic", "layout": [[0, 2], [0, 0]]},
        {"maze": "classic", "layout": [[0] * 33] * 2},
        {"begin": [0, 0]},
    ),
    steps=150,
    reward_range=(-0.75, 10.0),
)
