"""What an episode of `reward="success"` pays, at its end; for reward functions, too."""

from __future__ import annotations

SUCCESS_REWARDS = {
    "success": 20.0,
    "game_over": 2.0,
    "failed": 2.0,
    "illegal_answer": 2.0,
    "stuck": -1.0,
    "timeout": -1.0,
    "exception": -3.0,
    "refused": -2.0,
    "forbidden_import": -20.0,
}


def success_reward(ending: str) -> float:
    """The reward of how a game or a strategy ended; 0 for a game that goes on."""
    return SUCCESS_REWARDS.get(ending, 0.0)
