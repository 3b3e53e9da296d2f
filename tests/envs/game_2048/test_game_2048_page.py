"""A game of 2048 on a web page."""

from game_2048_env import Game2048Action
from game_2048_env.server.game_2048_environment import Game2048Environment
from tests.markup import buttons_of, view_of


def test_a_page_shows_the_tiles_and_the_arrows() -> None:
    environment = Game2048Environment()
    seen = environment.reset(seed=1)
    shown = view_of(environment, seen)
    assert shown.classes.count("t0") == 14
    assert shown.words.startswith("Score 0 Highest tile ")
    buttons = buttons_of(environment, seen)
    assert [label for label, _, _ in buttons] == seen.legal_moves
    assert all(action == {"move": label} for label, action, _ in buttons)
    assert {key for _, _, key in buttons} <= {"ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"}


def test_a_page_shows_how_a_strategy_did() -> None:
    environment = Game2048Environment()
    environment.reset(seed=1)
    try:
        seen = environment.step(Game2048Action(strategy="def strategy(board):\n    return 9 / 0"))
    finally:
        environment.close()
    words = view_of(environment, seen).words
    assert "Strategy exception" in words and "ZeroDivisionError" in words


def test_a_page_of_a_game_that_is_over_has_no_buttons() -> None:
    environment = Game2048Environment()
    seen = environment.reset(seed=1, max_steps=1)
    seen = environment.step(Game2048Action(move=seen.legal_moves[0]))
    assert buttons_of(environment, seen) == []
