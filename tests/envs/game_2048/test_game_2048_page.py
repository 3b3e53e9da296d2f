"""A game of 2048 on a web page."""

import pytest

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
    assert "Strategy exception" in words
    assert "The strategy ended the game: " in words and "ZeroDivisionError" in words


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("def strategy(board):\n    return 9", "The strategy ended the game: a move is"),
        ("import os", "The strategy was not run: "),
    ],
)
def test_a_page_says_one_thing(strategy: str, said: str) -> None:
    environment = Game2048Environment()
    environment.reset(seed=1)
    try:
        environment.step(Game2048Action(strategy=strategy))
        seen = environment.step(Game2048Action(strategy=strategy))
    finally:
        environment.close()
    shown = view_of(environment, seen)
    assert said in shown.words
    assert "No move is left" not in shown.words
    assert [each for each in shown.classes if "notice" in each] == ["notice bad"]


def test_a_form_offers_each_move_once() -> None:
    move = Game2048Action.model_json_schema()["properties"]["move"]
    assert move["anyOf"][0]["enum"] == ["up", "right", "down", "left"]
    assert Game2048Action(move="A").move == "left"


def test_a_page_of_a_game_that_is_over_has_no_buttons() -> None:
    environment = Game2048Environment()
    seen = environment.reset(seed=1, max_steps=1)
    seen = environment.step(Game2048Action(move=seen.legal_moves[0]))
    assert buttons_of(environment, seen) == []
