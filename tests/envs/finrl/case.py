"""How FinRL is played, well and badly."""

import random

from tests.envs.case import Case, Json


def _policy(seen: Json, choice: random.Random) -> Json:
    return {"actions": [choice.uniform(-1, 1) for _ in seen["tickers"]]}


CASE = Case(
    package="finrl_env",
    needs=("numpy",),
    environment="finrl_env.server.finrl_environment:FinRLEnvironment",
    client="finrl_env:FinRLEnv",
    policy=_policy,
    reset={"market": "synthetic", "stock_dim": 3, "days": 20},
    illegal=(
        {"actions": []},
        {"actions": [0.5]},
        {"actions": [0.1] * 4},
        {"actions": ["NaN", 0.0, 0.0]},
        {"actions": [0.0, 0.0, "-Infinity"]},
    ),
    invalid=(
        {},
        {"actions": None},
        {"actions": "buy"},
        {"actions": [None, 0.0, 0.0]},
        {"actions": [0.0, 0.0, 0.0], "shares": 1},
        {"actions": [0.0] * 100_000},
    ),
    bad_resets=(
        {"market": "mars"},
        {"market": "file"},
        {"data_path": "/etc/passwd"},
        {"config_path": "finrl.json"},
        {"engine": "finrl"},
        {"stock_dim": 0},
        {"stock_dim": 1024, "days": 10_000},
        {"market": "sample", "stock_dim": 2},
        {"buy_cost_pct": [0.1, 0.2]},
        {"sell_cost_pct": 1.0},
        {"initial_amount": -1},
        {"start_date": "2020-02-01", "end_date": "2020-01-01"},
        {"start_date": "2030-01-01"},
        {"initial": False},
        {"initial": False, "previous_state": [-1.0, *[1.0] * 6]},
        {"day": 99},
        {"state_space": 8},
        {"tech_indicator_list": ["sharpness"]},
        {"stock_dim": 1024, "turbulence_threshold": 1.0},
        {"leverage": 2},
    ),
    reward_range=(-10.0, 10.0),
)
