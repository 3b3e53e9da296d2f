"""Strategies at play: honest ones, broken ones, and ones that cheat."""

import asyncio
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from game_2048_env import (
    Game2048Action,
    Game2048Env,
    GameBoard,
    StrategyResult,
    StrategyRunner,
    execute_strategy,
)
from game_2048_env.server.app import app
from game_2048_env.server.game_2048_environment import Game2048Environment
from openenv import GenericEnvClient, Limits, create_app, errors, local
from openenv.executor import ExecutorFailed
from openenv.testing import serving

PATIENCE_S = 60.0
"""The time of a strategy that needs next to none, on a machine that is busy."""

RESTLESS = """
import random
def strategy(board):
    return random.choice("WASD")
"""
DOWN = "def strategy(board): return 'S'"


@pytest.fixture(scope="module", autouse=True)
def kept() -> Iterator[None]:
    """What makes interpreters lasts as long as somebody has one."""
    with StrategyRunner() as runner:
        runner.run(DOWN, GameBoard(seed=1), PATIENCE_S)
        yield


def strategy(body: str) -> str:
    """A strategy of these lines."""
    return "def strategy(board):\n" + textwrap.indent(textwrap.dedent(body), "    ")


def execute(code: str, **options: Any) -> StrategyResult:
    return execute_strategy(code, **{"seed": 1, "timeout_s": PATIENCE_S, **options})


def test_a_strategy_plays_a_game_to_its_end() -> None:
    result = execute(RESTLESS)
    assert (result.reason, result.status, result.error) == ("game_over", "failed", "")
    assert result.score > 0
    assert result.highest_tile == max(map(max, result.board))
    assert all(all(row) for row in result.board)


def test_a_strategy_reaches_the_target() -> None:
    result = execute(RESTLESS, target=16)
    assert (result.reason, result.status, result.highest_tile) == ("success", "success", 16)


def test_the_game_is_that_of_the_seed() -> None:
    code = strategy("return 'WDSA'[board[0][0] % 3 + board[3][3] % 2]")
    first, again = execute(code, seed=5), execute(code, seed=5)
    assert first == again
    assert first.board != execute(code, seed=6).board


@pytest.mark.parametrize("answer", ["'w'", "'UP'", "0", "'0'", "'Up'"])
def test_a_move_may_have_any_of_its_names(answer: str) -> None:
    expected = execute("def strategy(board): return 'W'")
    assert execute(f"def strategy(board): return {answer}") == expected


def test_moves_that_change_nothing_end_it_after_a_while() -> None:
    result = execute(DOWN)
    assert (result.reason, result.status) == ("stuck", "failed")
    assert result.error == "50 moves in a row changed nothing, down the last"
    assert result.steps > 50


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("None", "None"),
        ("'jump'", "'jump'"),
        ("4", "4"),
        ("True", "True"),
        ("1.0", "1.0"),
        ("['W']", "['W']"),
        ("lambda: 'W'", "<function"),
        ("'W' * 10**6", "'WWWW"),
        ("10**5000 * 0 + 77", "77"),
        ("type('S', (str,), {})('W')", "'W'"),
        ("object()", "<object"),
        ("(yield)", "<generator"),
        ("b'W'", "b'W'"),
        ("float('nan')", "nan"),
        ("'\\ud800'", r"'\ud800'"),
    ],
)
def test_an_answer_that_is_no_move_ends_it(answer: str, shown: str) -> None:
    result = execute(f"def strategy(board): return {answer}")
    assert (result.reason, result.steps, result.status) == ("illegal_answer", 1, "failed")
    assert f"strategy returned {shown}" in result.error
    assert len(result.error) < 200


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("x = 1\nreturn 1 / (x - 1)", "line 3: ZeroDivisionError"),
        ("raise ValueError('ünï')", "line 2: ValueError: ünï"),
        ("return board[99][99]", "line 2: IndexError"),
        ("return strategy(board)", "RecursionError"),
        ("return helper(board)", "line 2: NameError"),
        ("raise ValueError('x' * 10**6)", "line 2: ValueError: xxx"),
        ("import sys\nsys.exit(3)", "3"),
        ("raise SystemExit", ""),
        ("import os\nos._exit(0)", ""),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", ""),
        ("raise KeyboardInterrupt", ""),
        ("__import__('numpy')\nreturn 'W'", "numpy"),
        ("x = b'x' * (1 << 33)\nreturn 'W'", ""),
        ("globals()['_answer'] = lambda move: None\nreturn 'W'", ""),
        ("while True: print('x' * 10**6)", "printed more than"),
        ("globals().clear()\nreturn 'W'", ""),
    ],
)
def test_what_breaks_off_is_told_and_fails_the_game(body: str, error: str) -> None:
    result = execute(strategy(body))
    assert (result.reason, result.status) == ("exception", "failed")
    assert result.error
    assert error in result.error
    assert len(result.error) <= 500


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import time\ntime.sleep(600)",
        "sum(range(10**12))",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    ],
)
def test_time_that_is_up_ends_it(body: str) -> None:
    result = execute(strategy(body), timeout_s=0.5)
    assert (result.reason, result.status, result.steps) == ("timeout", "failed", 0)
    assert result.error == "its 0.5 s were over after 0 moves"


def test_moves_before_the_end_of_time_count() -> None:
    body = """
    strategy.calls = getattr(strategy, "calls", 0) + 1
    while strategy.calls > 3: pass
    return "WASD"[strategy.calls]
    """
    result = execute(strategy(body), timeout_s=3)
    assert (result.reason, result.steps) == ("timeout", 3)


def test_what_is_printed_does_no_harm() -> None:
    body = "print('status: success' * 10**4)\nprint('{\"reason\": \"success\"}')\nreturn 'S'"
    assert execute(strategy(body)).reason == "stuck"


def test_a_board_that_is_changed_is_a_copy() -> None:
    body = "board[0][0] = 2048\nboard.clear()\nreturn 'S'"
    assert execute(strategy(body)) == execute(DOWN)


def test_the_game_is_nowhere_in_reach() -> None:
    body = """
    import gc, sys
    found = [type(o).__name__ for o in gc.get_objects() if type(o).__name__ == "GameBoard"]
    frames, frame = [], sys._getframe()
    while frame:
        frames += [name for name in frame.f_locals if name in ("game", "referee", "seed")]
        frame = frame.f_back
    raise LookupError(f"{found} {frames} {'game_2048_env' in sys.modules}")
    """
    assert "LookupError: [] [] False" in execute(strategy(body)).error


def test_moves_that_are_sent_past_the_loop_are_moves_like_others() -> None:
    body = """
    sent = 0
    while _answer("WASD"[sent % 4]) is not None: sent += 1
    return "W"
    """
    result = execute(strategy(body))
    assert (result.reason, result.status) == ("game_over", "failed")
    assert result.score < 20_000


def test_no_strategy_sees_another() -> None:
    assert execute("def strategy(board):\n    globals()['kept'] = 1\n    return 'S'").steps
    assert "NameError" in execute(strategy("return kept")).error


def test_what_is_no_strategy_is_told_and_not_run() -> None:
    begun = GameBoard(seed=1).board()
    for code, reason in (("print(1)", "refused"), ("import numpy\n" + DOWN, "forbidden_import")):
        result = execute(code)
        assert (result.reason, result.steps, result.status) == (reason, 0, "ongoing")
        assert result.board == begun
        assert result.error


# --- in the environment -------------------------------------------------------------------------


def act(code: str) -> Game2048Action:
    return Game2048Action(strategy=code)


def press(key: str) -> Game2048Action:
    return Game2048Action.model_validate({"move": key})


def test_a_step_plays_a_whole_game() -> None:
    with local(Game2048Environment) as game:
        game.reset(seed=1, strategy_timeout_s=PATIENCE_S)
        result = game.step(act(DOWN))
        assert result.done
        assert result.observation.strategy == execute(DOWN)
        assert result.reward == result.observation.score
        assert game.state().step_count == 1
        assert "50 moves in a row" in result.observation.metadata["error"]
        assert result.observation.text.startswith("Strategy: 50 moves in a row changed nothing")
        again = game.step(act(DOWN))
        assert (again.done, again.reward) == (True, 0.0)
        assert again.observation.strategy == result.observation.strategy


def test_a_strategy_goes_on_from_the_board_that_it_finds() -> None:
    with local(Game2048Environment) as game:
        game.reset(seed=1, strategy_timeout_s=PATIENCE_S)
        moved = sum(game.step(press(key)).reward or 0.0 for key in "ASASAS")
        result = game.step(act(RESTLESS))
        played = result.observation.strategy
        assert played is not None
        assert played.score == result.reward == result.observation.score - moved


def test_code_that_is_refused_leaves_the_game_as_it_is() -> None:
    with local(Game2048Environment) as game:
        before = game.reset(seed=1).observation
        result = game.step(act("def strategy(): pass"))
        assert (result.done, result.reward) == (False, 0.0)
        assert result.observation.board == before.board
        assert "takes one argument" in result.observation.metadata["error"]
        assert game.step(Game2048Action(move="S")).observation.strategy is None


@pytest.mark.parametrize(
    ("code", "reason", "reward"),
    [
        (RESTLESS, "success", 20.0),
        (DOWN, "stuck", -1.0),
        (strategy("return 'jump'"), "illegal_answer", 2.0),
        (strategy("return 1 / 0"), "exception", -3.0),
        ("def strategy(): pass", "refused", -2.0),
        ("import numpy\n" + DOWN, "forbidden_import", -20.0),
    ],
)
def test_success_pays_how_it_ended(code: str, reason: str, reward: float) -> None:
    with local(Game2048Environment) as game:
        game.reset(seed=1, target_tile=16, reward="success", strategy_timeout_s=PATIENCE_S)
        result = game.step(act(code))
        assert result.observation.strategy is not None
        assert result.observation.strategy.reason == reason
        assert result.reward == reward


def test_success_pays_moves_at_the_end() -> None:
    with local(Game2048Environment) as game:
        result = game.reset(seed=1, size=3, target_tile=16, reward="success")
        rewards = []
        while not result.done:
            result = game.step(Game2048Action(move=result.observation.legal_moves[0]))
            rewards.append(result.reward)
        ending = {"success": 20.0, "failed": 2.0}[result.observation.status]
        assert rewards == [0.0] * (len(rewards) - 1) + [ending]


def test_the_callers_patience_shortens_a_strategys_time() -> None:
    environment = Game2048Environment()
    environment.reset(seed=1, strategy_timeout_s=PATIENCE_S)
    seen = environment.step(act(strategy("while True: pass")), timeout_s=0.5)
    environment.close()
    assert seen.strategy is not None
    assert seen.strategy.reason == "timeout"


@pytest.mark.timeout(60)
async def test_others_play_on_while_a_strategy_runs_and_closing_ends_it() -> None:
    with serving(app) as url:
        async with Game2048Env(base_url=url) as slow, Game2048Env(base_url=url) as quick:
            await slow.reset(seed=1, strategy_timeout_s=PATIENCE_S)
            await quick.reset(seed=2)
            running = asyncio.ensure_future(slow.step(act(strategy("while True: pass"))))
            results = [await quick.step(press(key)) for key in "ASDW" * 3]
            assert [result.done for result in results] == [False] * 12
            assert not running.done()
            running.cancel()


@pytest.mark.timeout(60)
def test_a_server_that_gives_up_a_step_ends_the_strategy() -> None:
    impatient = create_app(Game2048Environment, limits=Limits(step_timeout=1.0))
    with serving(impatient) as url, Game2048Env(base_url=url).sync() as game:
        game.reset(seed=1, strategy_timeout_s=PATIENCE_S)
        with pytest.raises(errors.StepTimeout):
            game.step(act(strategy("while True: pass")))
    assert execute(DOWN).reason == "stuck"


def test_a_runner_that_was_closed_runs_nothing() -> None:
    runner = StrategyRunner()
    runner.close()
    game = GameBoard(seed=1)
    before = game.board()
    with pytest.raises(ExecutorFailed, match="closed"):
        runner.run(DOWN, game, PATIENCE_S)
    assert (game.board(), game.state()) == (before, "ongoing")
    runner.close()


def test_an_interpreter_that_cannot_be_had_costs_no_step() -> None:
    environment = Game2048Environment()
    before = environment.reset(seed=1)
    environment.close()
    with pytest.raises(ExecutorFailed):
        environment.step(act(DOWN))
    assert environment.state.step_count == 0
    assert environment.step(press("S")).score == before.score == 0


def test_the_text_begins_with_what_was_wrong() -> None:
    with local(Game2048Environment) as game:
        asked = game.reset(seed=11, max_steps=1).observation
        assert "down" not in asked.legal_moves
        for error in ("down changes nothing", "the game is over"):
            seen = game.step(press("down")).observation
            assert seen.metadata["error"].startswith(error)
            assert seen.text == f"Refused: {seen.metadata['error']}\n{asked.text}"


def test_a_wrong_action_is_told_once() -> None:
    either = "strategy: give a move or a strategy, one of the two"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"move": 9}, "move: a move is W, .* an id: 0 up, 1 right, 2 down, 3 left, got 9 "),
        ({}, either),
        ({"move": "up", "strategy": "x"}, either),
    ]
    served = create_app(Game2048Environment)
    with serving(served) as url, GenericEnvClient(base_url=url).sync() as game:
        game.reset(seed=1)
        for action, told in wrong:
            with pytest.raises(errors.InvalidRequest, match=told):
                game.step(action)
