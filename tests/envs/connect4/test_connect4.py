"""Connect Four: lines, turns, opponents, and columns that are none."""

import random
from collections.abc import Iterator

import pytest

from connect4_env import Connect4Action, Connect4Env, Connect4Observation
from connect4_env.board import COLUMNS, ROWS, Board
from connect4_env.opponents import at_random, by_search
from connect4_env.server import Connect4Environment
from connect4_env.server.app import app
from openenv import errors
from openenv.testing import serving
from tests.markup import buttons_of, view_of

DRAW = [0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 2, 3, 2, 3, 2, 3, 3, 2, 3, 2, 3, 2]
DRAW += [4, 5, 4, 5, 4, 5, 5, 4, 5, 4, 5, 4, 6, 6, 6, 6, 6, 6]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(app) as address:
        yield address


def board_of(*columns: int) -> Board:
    board = Board()
    for column in columns:
        assert column in board.legal
        board.play(column)
    return board


def four_in(rows: list[list[int]], player: int) -> bool:
    """Whether somebody has four in a row, seen cell by cell."""
    ways = ((0, 1), (1, 0), (1, 1), (1, -1))
    cells = {(y, x) for y in range(ROWS) for x in range(COLUMNS) if rows[y][x] == player}
    return any(
        all((y + step * down, x + step * right) in cells for step in range(4))
        for y, x in cells
        for down, right in ways
    )


def play(environment: Connect4Environment, *columns: int) -> Connect4Observation:
    for column in columns:
        seen = environment.step(Connect4Action(column=column))
    return seen


@pytest.mark.parametrize(
    "columns",
    [
        [0, 1, 0, 1, 0, 1, 0],
        [0, 0, 1, 1, 2, 2, 3],
        [6, 6, 5, 5, 4, 4, 3],
        [0, 1, 1, 2, 2, 3, 2, 3, 3, 5, 3],
        [6, 5, 5, 4, 4, 3, 4, 3, 3, 1, 3],
    ],
    ids=["upright", "level", "level at the right", "rising", "falling"],
)
def test_four_in_a_row_win(columns: list[int]) -> None:
    board = board_of(*columns)
    assert board.winner == 1
    assert four_in(board.rows(), 1)
    assert board.legal == []
    board.undo()
    assert board.winner is None


def test_games_by_chance_end_where_four_are_in_a_row() -> None:
    chance, endings = random.Random(1), set()
    for _ in range(300):
        board = Board()
        while board.winner is None:
            assert not four_in(board.rows(), 1)
            assert not four_in(board.rows(), -1)
            board.play(chance.choice(board.legal))
        assert [four_in(board.rows(), player) for player in (1, -1)] == [
            board.winner == 1,
            board.winner == -1,
        ]
        endings.add(board.winner)
    assert {1, -1} <= endings


def test_no_line_runs_over_the_top_of_a_column() -> None:
    board = board_of(0, 6, 1, 0, 0, 0, 0, 0, 1)
    assert board.winner is None


def test_a_full_board_is_a_draw() -> None:
    board = board_of(*DRAW)
    assert (board.winner, board.legal) == (0, [])
    assert not any(four_in(board.rows(), player) for player in (1, -1))


def test_undo_takes_back_what_was_played() -> None:
    chance = random.Random(2)
    for _ in range(50):
        board, before = Board(), []
        while board.winner is None:
            before.append((board.rows(), board.player, board.legal))
            board.play(chance.choice(board.legal))
        for position in reversed(before):
            board.undo()
            assert (board.rows(), board.player, board.legal) == position


def test_two_players_alternate_from_one_client(url: str) -> None:
    with Connect4Env(base_url=url).sync() as game:
        result = game.reset()
        assert result.observation.board == [[0] * 7] * 6
        assert result.observation.legal_actions == list(range(7))
        for turn, column in enumerate([3, 2, 3, 2, 3, 2]):
            result = game.step(Connect4Action(column=column))
            following = -1 if turn % 2 == 0 else 1
            assert result.observation.metadata["next_player"] == following
            assert (result.reward, result.done) == (0.0, False)
        result = game.step(Connect4Action(column=3))
        assert (result.reward, result.done, result.observation.winner) == (1.0, True, 1)
        assert [row[3] for row in result.observation.board] == [0, 0, 1, 1, 1, 1]
        assert game.state().board == result.observation.board
        after = game.step(Connect4Action(column=0))
        assert (after.reward, after.done) == (0.0, True)
        assert after.observation.board == result.observation.board


def test_whoever_wins_is_paid() -> None:
    environment = Connect4Environment()
    environment.reset()
    seen = play(environment, 3, 2, 3, 2, 3, 2, 4, 2)
    assert (seen.reward, seen.winner, seen.done) == (1.0, -1, True)


def test_a_draw_pays_nothing() -> None:
    environment = Connect4Environment()
    environment.reset()
    seen = play(environment, *DRAW)
    assert (seen.reward, seen.winner, seen.done) == (0.0, 0, True)
    assert seen.text.splitlines()[-1] == "draw"


@pytest.mark.parametrize("column", [7, -1, 0, 10**40])
def test_a_column_that_is_full_or_none_loses(column: int) -> None:
    environment = Connect4Environment()
    environment.reset()
    before = play(environment, 0, 0, 0, 0, 0, 0)
    seen = play(environment, column)
    assert (seen.reward, seen.done, seen.winner) == (-1.0, True, -1)
    assert seen.board == before.board
    assert "legal are 1, 2, 3, 4, 5, 6; the game is lost" in seen.metadata["error"]
    assert environment.state.winner == -1
    assert play(environment, 1).board == before.board


def test_a_column_that_is_full_can_be_refused() -> None:
    environment = Connect4Environment()
    environment.reset(illegal_move="refuse")
    before = play(environment, 0, 0, 0, 0, 0, 0)
    seen = play(environment, 0)
    assert (seen.reward, seen.done, seen.board) == (0.0, False, before.board)
    assert "legal are 1, 2, 3, 4, 5, 6" in seen.metadata["error"]
    assert (seen.next_player, environment.state.step_count) == (1, 7)


@pytest.mark.parametrize("opponent", ["random", "search"])
def test_an_opponent_answers_in_the_same_step(opponent: str) -> None:
    environment = Connect4Environment()
    seen = environment.reset(seed=1, opponent=opponent)
    assert (seen.opponent_column, seen.next_player) == (None, 1)
    seen = play(environment, 3)
    stones = [stone for row in seen.board for stone in row]
    assert (stones.count(1), stones.count(-1), seen.next_player) == (1, 1, 1)
    assert seen.opponent_column in range(7)


def test_an_opponent_that_plays_first_has_moved() -> None:
    environment = Connect4Environment(opponent="search")
    seen = environment.reset(seed=1, plays_first=False)
    assert [row[3] for row in seen.board] == [0, 0, 0, 0, 0, 1]
    assert (seen.next_player, seen.opponent_column) == (-1, 3)


def test_who_loses_to_the_opponent_is_told_so() -> None:
    environment = Connect4Environment()
    seen = environment.reset(seed=3, opponent="search", depth=4)
    chance = random.Random(1)
    while not seen.done:
        seen = play(environment, chance.choice(seen.legal_actions))
    assert (seen.winner, seen.reward) == (-1, -1.0)
    assert seen.text.splitlines()[-1] == "O wins"


@pytest.mark.parametrize(
    ("columns", "column"),
    [([3, 0, 3, 0, 3, 6], 3), ([3, 0, 3, 0, 3], 3), ([2, 2, 3, 3, 4], {1, 5})],
    ids=["wins at once", "blocks three", "blocks an open three"],
)
def test_the_search_sees_what_is_near(columns: list[int], column: int | set[int]) -> None:
    found = by_search(board_of(*columns), random.Random(1), 3)
    assert found in (column if isinstance(column, set) else {column})


def test_the_search_beats_chance() -> None:
    chance, won = random.Random(1), 0
    for game in range(20):
        board, side = Board(), (1, -1)[game % 2]
        while board.winner is None:
            choose = by_search if board.player == side else at_random
            board.play(choose(board, chance, 3))
        won += board.winner == side
    assert won >= 19


def test_deeper_search_is_stronger() -> None:
    chance, score = random.Random(4), 0
    for game in range(12):
        board, deep = Board(), (1, -1)[game % 2]
        while board.winner is None:
            board.play(by_search(board, chance, 4 if board.player == deep else 1))
        score += deep * board.winner
    assert score > 0


def test_a_page_shows_the_stones_and_the_columns() -> None:
    environment = Connect4Environment()
    environment.reset()
    seen = play(environment, 3)
    shown = view_of(environment, seen)
    assert shown.labels[0].endswith("Row 6: ·, ·, ·, X, ·, ·, ·.")
    assert (shown.classes.count("red"), shown.classes.count("yellow")) == (1, 0)
    assert shown.words.endswith("O (yellow) to move.")
    buttons = buttons_of(environment, seen)
    assert buttons == [(f"column {n}", {"column": n}, str(n)) for n in range(7)]
    won = play(environment, 0, 3, 0, 3, 0, 3)
    assert view_of(environment, won).words.endswith("X (red) wins.")
    assert buttons_of(environment, won) == []


def test_the_text_shows_the_board() -> None:
    environment = Connect4Environment()
    environment.reset()
    lines = play(environment, 3, 3, 0).text.splitlines()
    assert lines[0] == "0 1 2 3 4 5 6"
    assert lines[5:7] == [". . . O . . .", "X . . X . . ."]
    assert lines[7] == "O to move. You play both sides."
    assert lines[8].startswith("Four in a row win")
    assert lines[8].endswith("loses the game.")
    assert lines[9:] == ["Legal columns: 0, 1, 2, 3, 4, 5, 6"]


def test_the_text_says_which_side_one_is() -> None:
    environment = Connect4Environment(opponent="random")
    assert "X to move. You are X, the opponent is O." in environment.reset(seed=1).text
    seen = environment.reset(seed=1, plays_first=False)
    assert "O to move. You are O, the opponent is X." in seen.text


def test_the_text_says_what_was_refused() -> None:
    environment = Connect4Environment()
    before = environment.reset(illegal_move="refuse")
    assert "is not taken" in before.text
    seen = play(environment, 9)
    assert seen.text == f"Refused: {seen.metadata['error']}\n{before.text}"


@pytest.mark.parametrize("opponent", ["none", "random"])
def test_a_depth_that_would_have_no_effect_is_refused(opponent: str) -> None:
    with pytest.raises(errors.InvalidRequest, match="depth=2 is of opponent='search' alone"):
        Connect4Environment().reset(opponent=opponent, depth=2)
