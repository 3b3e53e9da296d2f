"""How OpenSpiel's games are played."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any legal move."""
    return {"action_id": chance.choice(seen["legal_actions"])}


CASE = Case(
    package="openspiel_env",
    beside=("blackjack_env",),
    needs=("pyspiel",),
    environment="openspiel_env.server.openspiel_environment:OpenSpielEnvironment",
    client="openspiel_env:OpenSpielEnv",
    policy=policy,
    reset={"game_name": "tic_tac_toe"},
    illegal=({"action_id": 9}, {"action_id": -1}, {"action_id": 10**30}),
    invalid=(
        {},
        {"action_id": "centre"},
        {"action_id": 1.5},
        {"action_id": None},
        {"action_id": 1, "move": 2},
        {"action_id": 1, "game_name": "x" * 1000},
        {"action_id": 1, "game_params": {str(i): i for i in range(100)}},
    ),
    bad_resets=(
        {"game_name": "tic_tac_tow"},
        {"game_name": "chess", "agent_player": 2},
        {"agent_player": -1},
        {"opponent_policy": "best"},
        {"game_name": "catch", "game_params": {"rows": -1}},
        {"game_name": "catch", "game_params": {"width": 5}},
        {"game_name": "catch", "game_params": {"rows": 10**9}},
        {"game_name": "efg_game", "game_params": {"filename": "/etc/passwd"}},
        {"game_name": "mfg_garnet"},
        {"games": "catch"},
    ),
    reward_range=(-100.0, 16384.0),
)
