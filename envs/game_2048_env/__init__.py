"""2048, played by moves or by a strategy that is written as code."""

from game_2048_env.board import GameBoard
from game_2048_env.client import Game2048Env
from game_2048_env.execution import StrategyRunner, execute_strategy
from game_2048_env.models import (
    Game2048Action,
    Game2048Observation,
    Game2048State,
    StrategyResult,
)
from game_2048_env.rewards import success_reward
from game_2048_env.strategy import (
    ForbiddenImport,
    StrategyRefused,
    check_strategy,
    extract_strategy,
)

__all__ = [
    "ForbiddenImport",
    "Game2048Action",
    "Game2048Env",
    "Game2048Observation",
    "Game2048State",
    "GameBoard",
    "StrategyRefused",
    "StrategyResult",
    "StrategyRunner",
    "check_strategy",
    "execute_strategy",
    "extract_strategy",
    "success_reward",
]
