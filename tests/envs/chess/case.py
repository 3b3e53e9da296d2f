"""How chess is played."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any legal move."""
    return {"move": chance.choice(seen["legal_moves"])}


CASE = Case(
    package="chess_env",
    needs=("chess",),
    environment="chess_env.server.chess_environment:ChessEnvironment",
    client="chess_env:ChessEnv",
    policy=policy,
    reset={"opponent": "random", "max_moves": 40},
    illegal=tuple(
        {"move": move}
        for move in (
            "e2e5",
            "",
            "0000",
            "--",
            "O-O",
            "e9e4",
            "Ke8",
            "\0",
            "\u202ee2e4",
            "e2e4 e7e5",
        )
    ),
    invalid=({"move": 7}, {"move": None}, {}, {"move": "e2e4" * 100}, {"move": "e2e4", "to": "e4"}),
    bad_resets=(
        {"opponent": "kasparov"},
        {"opponent_depth": 0},
        {"opponent_depth": 99},
        {"agent_color": "green"},
        {"fen": "invalid fen"},
        {"fen": "8/8/8/8/8/8/8/8 w - - 0 1"},
        {"gamma": 1.5},
        {"max_moves": 0},
        {"uci_path": "/bin/true"},
        {"fenn": "8/8/8/8/8/8/8/8 w - - 0 1"},
    ),
    reward_range=(-1.0, 1.0),
)
