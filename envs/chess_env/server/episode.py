"""An episode: a game, the agent's side of it and what it is paid."""

from __future__ import annotations

from typing import Any

import chess

from chess_env.models import ChessObservation, ChessState
from chess_env.server.evaluation import evaluate
from chess_env.server.game import Game
from chess_env.server.notation import Record, Refused, read
from chess_env.server.opponents import Opponent
from chess_env.server.options import ChessOptions
from chess_env.server.view import Picture, color_name, describe

ILLEGAL = -0.1
OVER = "the game is over and stays as it is; reset() begins the next one"
LOST = "; that was one too many: the game is lost"


class Episode:
    """A game that an agent plays.

    Attributes:
        game: the board.
        agent: the agent's colour; of an agent that plays both sides, the one that is paid.
        record: the moves as players write them.
    """

    def __init__(
        self, options: ChessOptions, seed: int, agent: chess.Color, opponent: Opponent | None
    ) -> None:
        self.agent = agent
        self.game = Game(options.fen, claim_draws=options.claim_draws, max_moves=options.max_moves)
        self._options = options
        self._seed = seed
        self._opponent = opponent
        self.record = Record(self.game)
        self._role = color_name(agent) if opponent else f"both sides, for {color_name(agent)}"
        self._moves = 0  # the agent's own
        self._illegal = 0
        self._episode_id = ""

    def begin(self, episode_id: str) -> ChessObservation:
        """Lets the opponent move, if the agent does not begin."""
        self._episode_id = episode_id
        self._reply(self._options.opponent_timeout_s)
        return self._observe(0.0)

    def play(self, said: str, timeout_s: float | None) -> ChessObservation:
        """Makes the agent's move and the opponent's; one that is not legal moves nothing."""
        if self.game.ending:
            return self._observe(0.0, OVER, error=OVER)
        try:
            move = read(self.game, said)
        except Refused as refusal:
            return self._refuse(refusal)
        self.game.play(move)
        self._moves += 1
        self._reply(self._options.opponent_timeout_s if timeout_s is None else timeout_s)
        return self._observe(self._score())

    def state(self) -> ChessState:
        """Where the game stands, with all its moves."""
        game, other = self.game, self._options.opponent if self._opponent else "agent"
        white, black = ("agent", other) if self.agent else (other, "agent")
        return ChessState(
            episode_id=self._episode_id,
            step_count=self._moves + self._illegal,
            fen=game.board.fen(),
            current_player=color_name(game.board.turn),
            move_history=[move.uci() for move in game.moves],
            agent_color=color_name(self.agent),
            opponent=self._options.opponent,
            seed=self._seed,
            result=game.ending.result if game.ending else None,
            pgn=self.record.pgn(white, black),
        )

    def _reply(self, timeout_s: float) -> None:
        game = self.game
        if self._opponent and not game.ending and game.board.turn != self.agent:
            game.play(self._opponent.choose(game, timeout_s))

    def _refuse(self, refusal: Refused) -> ChessObservation:
        self._illegal += 1
        if self._illegal == self._options.forfeit_after:
            self.game.forfeit(self.game.board.turn)
            return self._observe(-1.0, refusal.why + LOST, error=f"{refusal}{LOST}")
        return self._observe(ILLEGAL, refusal.why, error=str(refusal))

    def _score(self) -> float:
        ending = self.game.ending
        if ending is None or ending.winner is None:
            return 0.0
        return 1.0 if ending.winner == self.agent else -1.0

    def _observe(self, reward: float, refused: str = "", **metadata: Any) -> ChessObservation:
        game, board, ending = self.game, self.game.board, self.game.ending
        picture = Picture(board)
        return ChessObservation(
            done=ending is not None,
            truncated=ending is not None and ending.reason == "max_moves",
            reward=reward,
            metadata=self._told() | metadata,
            fen=picture.fen(),
            legal_moves=[] if ending else list(game.names()),
            is_check=board.is_check(),
            result=ending.result if ending else None,
            text=describe(game, self._role, picture.rows, refused),
            board=picture.squares,
            flags=picture.flags(self.agent),
        )

    def _told(self) -> dict[str, Any]:
        board = self.game.board
        worth = float(evaluate(board))
        told: dict[str, Any] = {
            "evaluation": worth if board.turn else -worth,
            "evaluation_white": worth,
            "fullmove_number": board.fullmove_number,
            "halfmove_clock": board.halfmove_clock,
            "agent_color": color_name(self.agent),
            "opponent": self._options.opponent,
            "seed": self._seed,
            "illegal_moves": self._illegal,
        }
        if self._opponent and self._opponent.fault:
            told["opponent_error"] = self._opponent.fault
        if self.game.ending:
            told |= self._final()
        return told

    def _final(self) -> dict[str, Any]:
        ending, gamma, total = self.game.ending, self._options.gamma, self._moves
        score = -1.0 if ending and ending.reason == "illegal_moves" else self._score()
        return {
            "termination": ending and ending.reason,
            "discounted_rewards": [gamma ** (total - 1 - t) * score for t in range(total)],
            "gamma": gamma,
        }
