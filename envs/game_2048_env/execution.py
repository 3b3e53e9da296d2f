"""Strategies at play: the code runs in a sandbox, and the game is kept outside of it.

A strategy gets copies of the board and sends moves. What it does to its copies, or claims of them,
changes nothing: its result is read off the game.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from game_2048_env.board import GameBoard
from game_2048_env.models import Reason, StrategyResult
from game_2048_env.rules import parse_move
from game_2048_env.strategy import ForbiddenImport, StrategyRefused, check_strategy

if TYPE_CHECKING:
    from openenv.executor import CodeResult, PythonExecutor

MAX_IDLE = 50
"""How many moves in a row may change nothing."""
_MAX_ERROR = 500
_LOOP = """
def _play(board):
    while board is not None:
        move = strategy(board)
        known = type(move) is int and -10 < move < 10 or type(move) is str and len(move) <= 16
        board = _answer(move if known else [repr(move)[:60]])
_play({board})
"""


class _Referee:
    """Plays the moves that a strategy sends, and sees when it is over."""

    def __init__(self, game: GameBoard) -> None:
        self.game = game
        self.steps = 0
        self.reason: Reason | None = None
        self.error = ""
        self._idle = 0

    def answer(self, answer: object) -> list[list[int]] | None:
        """Makes a move; gives the board after it, or `None` if there is nothing more to answer."""
        if self.reason is not None:
            return None
        self.steps += 1
        try:
            move = parse_move(answer)
        except ValueError as error:
            got = answer[0] if isinstance(answer, list) and answer else repr(answer)
            wrong = f"{str(error).partition('; got')[0]}; strategy returned {got}"
            self.stop("illegal_answer", wrong)
            return None
        self._idle = 0 if move in self.game.legal_moves else self._idle + 1
        self.game.play(move)
        if self.game.state() != "ongoing":
            self.stop("success" if self.game.state() == "success" else "game_over")
        elif self._idle == MAX_IDLE:
            self.stop("stuck", f"{MAX_IDLE} moves in a row changed nothing, {move} the last")
        return self.game.board() if self.reason is None else None

    def stop(self, reason: Reason, error: str = "") -> None:
        """Ends the play; a game that is not over has failed."""
        self.reason, self.error = reason, error[:_MAX_ERROR]
        self.game.give_up()

    def result(self, score_before: int) -> StrategyResult:
        """How far the strategy came."""
        assert self.reason is not None, "the play is over"
        return StrategyResult(
            steps=self.steps,
            score=self.game.score - score_before,
            board=self.game.board(),
            highest_tile=self.game.highest_tile,
            status=self.game.state(),
            reason=self.reason,
            error=self.error,
        )


class StrategyRunner:
    """Runs one strategy at a time, each in a sandboxed interpreter of its own."""

    def __init__(self) -> None:
        self._executor: PythonExecutor | None = None

    def run(self, code: str, game: GameBoard, timeout_s: float) -> StrategyResult:
        """Lets a strategy play a running game to its end.

        Code that is no strategy leaves the game as it is; of one that breaks off, the game fails.

        Args:
            code: the strategy.
            game: what it plays.
            timeout_s: the time it has for all its moves.
        """
        referee, score_before = _Referee(game), game.score
        try:
            check_strategy(code)
        except StrategyRefused as refusal:
            forbidden = isinstance(refusal, ForbiddenImport)
            referee.reason = "forbidden_import" if forbidden else "refused"
            referee.error = str(refusal)[:_MAX_ERROR]
            return referee.result(score_before)
        outcome = self._execute(code, referee, timeout_s)
        if referee.reason is None:
            _judge(referee, outcome, code, timeout_s)
        return referee.result(score_before)

    def close(self) -> None:
        """Stops the strategy that is running, if one is; may be called from any thread."""
        if self._executor is not None:
            self._executor.close()

    def _execute(self, code: str, referee: _Referee, timeout_s: float) -> CodeResult:
        from openenv.executor import ExecutorLimits, PythonExecutor

        limits = ExecutorLimits(
            timeout_s=timeout_s, memory_bytes=256 << 20, tool_calls=1 << 20, tool_bytes=1 << 16
        )
        source = f"{code}\n{_LOOP.format(board=list(referee.game.board()))}"
        with PythonExecutor(
            limits=limits, imports=sys.stdlib_module_names, tools={"_answer": referee.answer}
        ) as self._executor:
            outcome = self._executor.run(source)
        self._executor = None
        return outcome


def execute_strategy(
    code: str,
    seed: int | None = None,
    timeout_s: float = 2.0,
    *,
    size: int = 4,
    target: int | None = None,
) -> StrategyResult:
    """Lets a strategy play one game of 2048, in a sandbox.

    Args:
        code: `def strategy(board): ...`, which gets the tiles as a list of rows and returns a move
            (`W`, `A`, `S`, `D` or another name of it, see `rules.parse_move`).
        seed: what settles the new tiles; `None` draws one.
        timeout_s: the seconds it has for all its moves.
        size: rows and columns.
        target: the tile that wins the game; without one it goes on until no move is left.

    Returns:
        how far it came, and what stopped it. Whatever the code does, it is told there and raises
        nothing.
    """
    return StrategyRunner().run(code, GameBoard(size, seed, target), timeout_s)


def _judge(referee: _Referee, outcome: CodeResult, code: str, timeout_s: float) -> None:
    """Says what stopped a strategy that broke off."""
    if outcome.timed_out:
        return referee.stop("timeout", f"its {timeout_s:g} s were over after {referee.steps} moves")
    if outcome.error is None:
        return referee.stop("exception", f"it ended its process with code {outcome.exit_code}")
    error = outcome.error
    own = error.line is not None and error.line <= len(code.splitlines())
    place = f"line {error.line}: " if own else ""
    return referee.stop("exception", f"{place}{error.type}: {error.message}")
