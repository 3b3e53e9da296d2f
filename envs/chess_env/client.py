"""The typed client of the chess environment."""

from __future__ import annotations

from chess_env.models import ChessAction, ChessObservation, ChessState
from openenv import EnvClient


class ChessEnv(EnvClient[ChessAction, ChessObservation, ChessState]):
    """A chessboard of one's own, and somebody who sits on its other side."""

    async def pgn(self) -> str:
        """The game so far in Portable Game Notation, as chess programs read it.

        Raises:
            errors.ResetRequired: no game has begun yet.
        """
        state = await self.state()
        return state.pgn
