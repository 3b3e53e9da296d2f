"""Chess against opponents of every strength, or against oneself."""

from chess_env.client import ChessEnv
from chess_env.models import ChessAction, ChessObservation, ChessState

__all__ = ["ChessAction", "ChessEnv", "ChessObservation", "ChessState"]
