"""What a game was worth, and each move of it."""

from __future__ import annotations

from chess_env.models import ChessAction, ChessObservation
from openenv.rubrics import ExponentialDiscountingTrajectoryRubric


class ChessWinLossRubric(ExponentialDiscountingTrajectoryRubric):
    """Credits each of the agent's moves with its discounted share of a win, a loss or a draw."""

    def score_trajectory(self, trajectory: list[tuple[ChessAction, ChessObservation]]) -> float:
        """What the last move was paid: 1, 0 or -1."""
        _, last = trajectory[-1]
        return float(last.reward or 0.0)
