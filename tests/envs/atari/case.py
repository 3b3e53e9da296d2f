"""How Atari games are played."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """Any legal action."""
    return {"action_id": chance.choice(seen["legal_actions"])}


CASE = Case(
    package="atari_env",
    needs=("ale_py",),
    environment="atari_env.server.atari_environment:AtariEnvironment",
    client="atari_env:AtariEnv",
    policy=policy,
    reset={
        "game_name": "breakout",
        "obs_type": "ram",  # the few bytes that frames are drawn from
        "repeat_action_probability": 0.25,
        "noop_max": 8,
        "max_num_frames_per_episode": 120,
    },
    measured={"game_name": "breakout", "obs_type": "rgb", "obs_format": "tensor"},
    illegal=(
        {"action_id": 18},
        {"action_id": -1},
        {"action_id": 2**63 - 1},
        {"action_id": 2**70},
        {"action_id": -(10**400)},
    ),
    invalid=(
        {},
        {"action_id": "fire"},
        {"action_id": 1.5},
        {"action_id": None},
        {"action_id": [0]},
        {"action_id": 0, "game_name": "pong" * 100},
        {"action_id": 0, "obs_type": "sound"},
        {"action_id": 0, "speed": 2},
    ),
    bad_resets=(
        {"game_name": "ponk"},
        {"game_name": "\x00\u202epong"},
        {"game_name": "pong" * 100},
        {"game_name": "../pong"},
        {"mode": 3},
        {"difficulty": 9},
        {"mode": -1},
        {"frameskip": 0},
        {"frameskip": 10**6},
        {"repeat_action_probability": 1.5},
        {"noop_max": -1},
        {"obs_type": "ram", "obs_format": "png"},
        {"obs_format": "gif"},
        {"level": 2},
    ),
    reward_range=(-1_000_000.0, 1_000_000.0),
)
