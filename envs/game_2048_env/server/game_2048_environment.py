"""The game of 2048 that a server holds for each session."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

from game_2048_env.board import GameBoard
from game_2048_env.execution import StrategyRunner
from game_2048_env.models import (
    Game2048Action,
    Game2048Observation,
    Game2048State,
    StrategyResult,
)
from game_2048_env.rewards import success_reward
from game_2048_env.rules import KEYS, MOVES, Move, parse_move
from game_2048_env.server import view
from game_2048_env.server.options import Game2048Options
from openenv import Environment, Seeds, errors
from openenv.env.web_html import WebAction

SHARE_OF_PATIENCE = 0.8
"""The part of a caller's patience that a strategy may use up; the rest is for the answer."""
GAME_OVER = "the game is over and stays as it is; reset() begins the next one"


class Game2048Environment(Environment[Game2048Action, Game2048Observation, Game2048State]):
    """A game of 2048. A step is a move, or a strategy that plays the rest of the game.

    `reset(seed=s)` begins the game of seed `s`. A reset without a seed begins the next game of the
    sequence that the last seeded reset began.

    Args:
        options: what holds for every episode unless `reset` says otherwise; by default what the
            variables `GAME_2048_...` say.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the final board
    OPTIONS = Game2048Options
    HOST = "inline"  # a move computes next to nothing; a strategy is awaited

    def __init__(self, options: Game2048Options | None = None) -> None:
        super().__init__()
        self._defaults = options or Game2048Options.from_variables()
        self._options = self._defaults
        self._seeds = Seeds()
        self._game: GameBoard | None = None
        self._episode_id: str | None = None
        self._steps = 0
        self._strategy: StrategyResult | None = None
        self._runner = StrategyRunner()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> Game2048Observation:
        """Begins a game.

        Raises:
            errors.InvalidRequest: an option is unknown or impossible; the running game goes on.
        """
        self._options = self._defaults.updated(options)
        seed = self._seeds.next(seed)
        chosen = self._options
        self._game = GameBoard(chosen.size, seed, chosen.target_tile, chosen.probability_fours)
        self._episode_id, self._steps, self._strategy = episode_id or str(uuid4()), 0, None
        return self._observe(self._game)

    def step(
        self, action: Game2048Action, timeout_s: float | None = None, **kwargs: Any
    ) -> Game2048Observation:
        """Makes a move, or lets a strategy play.

        Raises:
            errors.ResetRequired: no game has begun yet.
        """
        game = self._running_game()
        if self._is_over(game):
            return self._observe(game, error=GAME_OVER)
        if action.move is not None:
            return self._move(game, parse_move(action.move))
        return self._played(game, self._run(game, action, timeout_s))

    async def step_async(
        self, action: Game2048Action, timeout_s: float | None = None, **kwargs: Any
    ) -> Game2048Observation:
        """`step`, in which a strategy keeps nobody else waiting."""
        game = self._running_game()
        if action.strategy is None or self._is_over(game):
            return self.step(action, timeout_s)
        try:
            result = await asyncio.to_thread(self._run, game, action, timeout_s)
        except asyncio.CancelledError:  # nobody waits for it any more
            self._runner.close()
            self._runner = StrategyRunner()
            raise
        return self._played(game, result)

    @property
    def state(self) -> Game2048State:
        """Where the game stands."""
        game = self._game
        if game is None:
            return Game2048State()
        return Game2048State(
            episode_id=self._episode_id,
            step_count=self._steps,
            seed=game.seed,
            score=game.score,
            highest_tile=game.highest_tile,
            status=game.state(),
            target_tile=game.target,
        )

    def close(self) -> None:
        """Ends the process that strategies run in."""
        self._runner.close()

    def render_web(self, observation: dict[str, Any]) -> str:
        """The board, as HTML."""
        return view.draw(observation)

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """The moves that change the board, by arrow keys."""
        return view.actions(observation)

    def _running_game(self) -> GameBoard:
        if self._game is None:
            raise errors.ResetRequired("no game has begun yet; call reset() first")
        return self._game

    def _is_over(self, game: GameBoard) -> bool:
        return game.state() != "ongoing" or self._out_of_steps

    @property
    def _out_of_steps(self) -> bool:
        return self._options.max_steps is not None and self._steps >= self._options.max_steps

    def _move(self, game: GameBoard, move: Move) -> Game2048Observation:
        legal = game.legal_moves
        self._steps += 1
        self._strategy = None
        points = game.play(move)
        reward = float(points) if self._options.reward == "score" else success_reward(game.state())
        if move in legal:
            return self._observe(game, reward=reward)
        error = f"{move} changes nothing, so nothing happened; legal are {', '.join(legal)}"
        return self._observe(game, reward=reward, error=error)

    def _run(
        self, game: GameBoard, action: Game2048Action, timeout_s: float | None
    ) -> StrategyResult:
        limit = self._options.strategy_timeout_s
        within_s = limit if timeout_s is None else min(limit, SHARE_OF_PATIENCE * timeout_s)
        return self._runner.run(action.strategy or "", game, within_s)

    def _played(self, game: GameBoard, result: StrategyResult) -> Game2048Observation:
        self._steps += 1
        self._strategy = result
        by_score = self._options.reward == "score"
        reward = float(result.score) if by_score else success_reward(result.reason)
        return self._observe(game, reward=reward, error=result.error, said_of="Strategy")

    def _observe(
        self, game: GameBoard, *, reward: float = 0.0, error: str = "", said_of: str = "Refused"
    ) -> Game2048Observation:
        legal = game.legal_moves
        ended = game.state() != "ongoing"
        return Game2048Observation(
            done=ended or self._out_of_steps,
            truncated=self._out_of_steps and not ended,
            reward=reward,
            metadata={"seed": game.seed} | ({"error": error} if error else {}),
            board=game.board(),
            score=game.score,
            highest_tile=game.highest_tile,
            legal_moves=legal,
            legal_actions=[MOVES.index(move) for move in legal],
            status=game.state(),
            strategy=self._strategy,
            text=f"{said_of}: {error}\n{_describe(game)}" if error else _describe(game),
        )


def _describe(game: GameBoard) -> str:
    legal = game.legal_moves
    moves = ", ".join(f"{key} ({move})" for key, move in KEYS.items() if move in legal)
    ending = f"moves: {moves}" if moves else f"game over: {game.state()}"
    board = game.board().pretty()
    return f"{board}\nscore {game.score}, highest tile {game.highest_tile}\n{ending}"
