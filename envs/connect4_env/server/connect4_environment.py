"""The board that a server holds for each session."""

from __future__ import annotations

import random
from typing import Any, Literal
from uuid import uuid4

from pydantic import Field, model_validator
from typing_extensions import Self

from connect4_env.board import Board
from connect4_env.models import Connect4Action, Connect4Observation, Connect4State
from connect4_env.opponents import OPPONENTS
from connect4_env.server import view
from openenv import Environment, Options, Seeds, errors
from openenv.env.web_html import WebAction

Opponent = Literal["none", "random", "search"]

GAME_OVER = "the game is over and stays as it is; reset() begins the next one"
LOSE_REWARD = -1.0
RULES = {
    "lose": "a column that is full or none loses the game",
    "refuse": "a column that is full or none is not taken",
}


class Connect4Options(Options, variables="CONNECT4_"):
    """The options of a game.

    Attributes:
        opponent: `none`, the client plays both sides in turn; `random`; `search`, which looks
            `depth` moves ahead.
        plays_first: whether the client begins, against an opponent.
        depth: how many moves ahead `search` looks.
        illegal_move: `lose`, a column that is full or none loses the game; `refuse`, nothing moves.
    """

    opponent: Opponent = "none"
    plays_first: bool = True
    depth: int = Field(default=4, ge=1, le=6)
    illegal_move: Literal["lose", "refuse"] = "lose"

    @model_validator(mode="after")
    def _has_a_first_player(self) -> Self:
        if self.opponent == "none" and not self.plays_first:
            raise ValueError("plays_first=False needs an opponent that plays first")
        return self


class Connect4Environment(Environment[Connect4Action, Connect4Observation, Connect4State]):
    """A game of Connect Four: 1 for a win, -1 for a loss, else 0.

    Args:
        options: what holds for every game unless `reset` says otherwise; by default what the
            variables `CONNECT4_...` say.
        opponent: that option alone.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the last board
    OPTIONS = Connect4Options

    def __init__(
        self, options: Connect4Options | None = None, opponent: Opponent | None = None
    ) -> None:
        super().__init__()
        defaults = options or Connect4Options.from_variables()
        self._defaults = defaults.updated({"opponent": opponent})
        self._options = self._defaults
        self._seeds = Seeds()
        self._chance = random.Random()
        self._board: Board | None = None
        self._forfeit_to: int | None = None
        self._opponent_column: int | None = None
        self._state = Connect4State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> Connect4Observation:
        """Begins a game; an opponent that plays first has made its move.

        Raises:
            errors.InvalidRequest: an option is unknown or impossible; the running game goes on.
        """
        chosen = self._defaults.updated(options)
        if options.get("depth") is not None and chosen.opponent != "search":
            raise errors.InvalidRequest(
                f"reset does not take that: depth={options['depth']} is of opponent='search' "
                f"alone, got opponent={chosen.opponent!r}"
            )
        self._options = chosen
        seed = self._seeds.next(seed)
        self._chance = random.Random(f"opponent {seed}")
        board = self._board = Board()
        self._forfeit_to = self._opponent_column = None
        self._state = Connect4State(
            episode_id=episode_id or str(uuid4()), seed=seed, opponent=chosen.opponent
        )
        if not chosen.plays_first:
            self._answer(board)
        return self._observe(board)

    def step(
        self, action: Connect4Action, timeout_s: float | None = None, **kwargs: Any
    ) -> Connect4Observation:
        """Makes a move, and lets the opponent answer it.

        Raises:
            errors.ResetRequired: no game has begun yet.
        """
        board = self._running()
        if self._winner(board) is not None:
            return self._observe(board, error=GAME_OVER)
        self._state.step_count += 1
        if action.column not in board.legal:
            return self._illegal(board, action.column)
        mover = board.player
        board.play(action.column)
        if board.winner is None:
            self._answer(board)
        return self._observe(board, reward=float(mover * (board.winner or 0)))

    @property
    def state(self) -> Connect4State:
        """Where the game stands."""
        if self._board is None:
            return self._state
        changed = {
            "board": self._board.rows(),
            "next_player": self._board.player,
            "winner": self._winner(self._board),
        }
        return self._state.model_copy(update=changed)

    def render_web(self, observation: dict[str, Any]) -> str:
        """The board, as HTML."""
        return view.draw(observation)

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """The columns that are not full, by their numbers."""
        return view.actions(observation)

    def _running(self) -> Board:
        if self._board is None:
            raise errors.ResetRequired("no game has begun yet; call reset() first")
        return self._board

    def _winner(self, board: Board) -> int | None:
        """Who has won, also by an illegal move of the other; 0 for a draw."""
        return board.winner if self._forfeit_to is None else self._forfeit_to

    def _answer(self, board: Board) -> None:
        if (opponent := OPPONENTS.get(self._options.opponent)) is not None:
            self._opponent_column = opponent(board, self._chance, self._options.depth)
            board.play(self._opponent_column)

    def _illegal(self, board: Board, column: int) -> Connect4Observation:
        legal = ", ".join(map(str, board.legal))
        error = f"column {str(column)[:20]} is full or none; legal are {legal}"
        if self._options.illegal_move == "refuse":
            return self._observe(board, error=error)
        self._forfeit_to = -board.player
        return self._observe(board, LOSE_REWARD, error=f"{error}; the game is lost")

    def _observe(self, board: Board, reward: float = 0.0, **metadata: Any) -> Connect4Observation:
        winner = self._winner(board)
        return Connect4Observation(
            done=winner is not None,
            reward=reward,
            metadata={"next_player": board.player, "seed": self._state.seed, **metadata},
            board=board.rows(),
            legal_actions=board.legal if winner is None else [],
            next_player=board.player,
            winner=winner,
            opponent_column=self._opponent_column,
            text=self._text(board, metadata.get("error")),
        )

    def _text(self, board: Board, error: str | None) -> str:
        """All that a language model needs: what was refused, the board, its side and the rules."""
        winner = self._winner(board)
        refused = f"Refused: {error}\n" if error else ""
        if winner is not None:
            ending = f"{'.XO'[winner]} wins" if winner else "draw"
            return f"{refused}{board.text()}\n{self._side()}\n{ending}"
        return (
            f"{refused}{board.text()}\n{'.XO'[board.player]} to move. {self._side()}\n"
            f"Four in a row win, level, upright or diagonal; {RULES[self._options.illegal_move]}.\n"
            f"Legal columns: {', '.join(map(str, board.legal))}"
        )

    def _side(self) -> str:
        if self._options.opponent == "none":
            return "You play both sides."
        first = self._options.plays_first
        return f"You are {'X' if first else 'O'}, the opponent is {'O' if first else 'X'}."
