"""Strategies at play: the code runs in a sandbox, and the game is kept outside of it.

A strategy gets copies of the board and sends moves. What it does to its copies, or claims of them,
changes nothing: its result is read off the game.
"""

from __future__ import annotations

import random
import sys
import threading
from typing import TYPE_CHECKING

from typing_extensions import Self

from game_2048_env.board import GameBoard
from game_2048_env.models import Reason, StrategyResult
from game_2048_env.rules import parse_move
from game_2048_env.strategy import ForbiddenImport, StrategyRefused, check_strategy

if TYPE_CHECKING:
    from openenv.executor import CodeResult, PythonExecutor

MAX_IDLE = 50
"""How many moves in a row may change nothing."""
MEMORY_BYTES = 256 << 20
_MAX_ERROR = 500
_LOOP = """
def _play(board):
    while board is not None:
        move = strategy(board)
        plain = type(move) is int and -10 < move < 10 or type(move) is str and len(move) <= 16
        board = _answer(move if plain and str(move).isascii() else [ascii(move)[:60]])
import random
random.seed({seed})
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
        self._turn = threading.Lock()

    def answer(self, answer: object) -> list[list[int]] | None:
        """Makes a move; gives the board after it, or `None` if there is nothing more to answer."""
        with self._turn:
            if self.reason is None:
                self._take(answer)
            return self.game.board() if self.reason is None else None

    def refuse(self, refusal: StrategyRefused) -> None:
        """Notes that there was no play; the game is as it was."""
        forbidden = isinstance(refusal, ForbiddenImport)
        self.reason = "forbidden_import" if forbidden else "refused"
        self.error = str(refusal)[:_MAX_ERROR]

    def stop(self, reason: Reason, error: str) -> None:
        """Ends the play from outside, if it has not ended."""
        with self._turn:
            if self.reason is None:
                self._end(reason, error)

    def _take(self, answer: object) -> None:
        self.steps += 1
        try:
            move = parse_move(answer)
        except ValueError as error:
            got = answer[0] if isinstance(answer, list) and answer else repr(answer)
            wrong = f"{str(error).partition('; got')[0]}; strategy returned {got}"
            return self._end("illegal_answer", wrong)
        self._idle = 0 if move in self.game.legal_moves else self._idle + 1
        self.game.play(move)
        if (status := self.game.state()) != "ongoing":
            return self._end("success" if status == "success" else "game_over")
        if self._idle == MAX_IDLE:
            last = f"{MAX_IDLE} moves in a row changed nothing, {move} the last"
            return self._end("stuck", last)
        return None

    def _end(self, reason: Reason, error: str = "") -> None:
        """Notes why it is over; a game that goes on has failed."""
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
    """Runs strategies, one at a time, each in a sandboxed interpreter of its own.

    What makes the interpreters is kept until `close`; runners of one process share it.
    """

    def __init__(self) -> None:
        self._executor: PythonExecutor | None = None
        self._referee: _Referee | None = None
        self._is_closed = False

    def run(self, code: str, game: GameBoard, timeout_s: float) -> StrategyResult:
        """Lets a strategy play a running game to its end.

        Code that is no strategy leaves the game as it is; of one that breaks off, the game fails.

        Args:
            code: the strategy.
            game: what it plays.
            timeout_s: the time it has for all its moves.

        Raises:
            ExecutorFailed: there is no interpreter; the game is as it was.
        """
        referee, score_before = _Referee(game), game.score
        try:
            check_strategy(code)
        except StrategyRefused as refusal:
            referee.refuse(refusal)
            return referee.result(score_before)
        self._referee = referee
        seed = random.Random(f"strategies of {game.seed}").getrandbits(32)
        source = f"{code}\n{_LOOP.format(seed=seed, board=list(game.board()))}"
        outcome = self._fresh().run(source, timeout_s=timeout_s)
        referee.stop(*_verdict(outcome, code, f"{timeout_s:g} s were over after {referee.steps}"))
        return referee.result(score_before)

    def close(self) -> None:
        """Ends the interpreter, in the middle of a strategy if need be, and for good."""
        self._is_closed = True
        if self._executor is not None:
            self._executor.close()

    def _fresh(self) -> PythonExecutor:
        """An executor that has seen no strategy."""
        if self._executor is not None:
            self._executor.reset()
            return self._executor
        from openenv.executor import ExecutorLimits, PythonExecutor

        self._executor = PythonExecutor(
            limits=ExecutorLimits(
                memory_bytes=MEMORY_BYTES, tool_calls=1 << 20, tool_bytes=1 << 16, artefacts=1
            ),
            imports=sys.stdlib_module_names,
            tools={"_answer": self._answer},
        )
        if self._is_closed:  # while it was made: `close` has not seen it
            self._executor.close()
        return self._executor

    def _answer(self, answer: object) -> list[list[int]] | None:
        assert self._referee is not None, "a strategy is running"
        return self._referee.answer(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
    with StrategyRunner() as runner:
        return runner.run(code, GameBoard(size, seed, target), timeout_s)


def _verdict(outcome: CodeResult, code: str, time_over: str) -> tuple[Reason, str]:
    """What stopped a strategy that the referee did not stop."""
    if outcome.timed_out:
        return "timeout", f"its {time_over} moves"
    if outcome.error is None:
        return "exception", f"it left the game, with exit code {outcome.exit_code}"
    error = outcome.error
    own = error.line is not None and error.line <= len(code.splitlines())
    place = f"line {error.line}: " if own else ""
    return "exception", f"{place}{error.type}: {error.message}"
