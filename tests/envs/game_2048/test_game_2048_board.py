"""2048's rules: how tiles slide, merge, appear and end a game."""

import random

import pytest

from game_2048_env import GameBoard
from game_2048_env.rules import MOVES, legal_moves, parse_move, shift, slide


@pytest.mark.parametrize(
    ("row", "slid", "points"),
    [
        ((0, 0, 0, 0), (0, 0, 0, 0), 0),
        ((0, 2, 0, 2), (4, 0, 0, 0), 4),
        ((2, 2, 2, 0), (4, 2, 0, 0), 4),
        ((2, 2, 2, 2), (4, 4, 0, 0), 8),
        ((4, 2, 2, 0), (4, 4, 0, 0), 4),
        ((2, 2, 4, 8), (4, 4, 8, 0), 4),
        ((2, 4, 2, 4), (2, 4, 2, 4), 0),
        ((0, 0, 0, 2), (2, 0, 0, 0), 0),
        ((1024, 1024), (2048, 0), 2048),
        ((4, 4, 8, 16, 16), (8, 8, 32, 0, 0), 40),
    ],
)
def test_a_row_slides_and_each_tile_merges_once(
    row: tuple[int, ...], slid: tuple[int, ...], points: int
) -> None:
    assert slide(row) == (slid, points)


def test_a_move_slides_every_line_its_way() -> None:
    rows = ((2, 0, 2), (0, 4, 0), (2, 0, 8))
    assert shift(rows, "left") == (((4, 0, 0), (4, 0, 0), (2, 8, 0)), 4)
    assert shift(rows, "right") == (((0, 0, 4), (0, 0, 4), (0, 2, 8)), 4)
    assert shift(rows, "up") == (((4, 4, 2), (0, 0, 8), (0, 0, 0)), 4)
    assert shift(rows, "down") == (((0, 0, 0), (0, 0, 2), (4, 4, 8)), 4)


def test_moves_that_change_nothing_are_not_legal() -> None:
    assert legal_moves(((2, 4), (0, 0))) == ["down"]
    assert legal_moves(((2, 4), (4, 2))) == []
    assert legal_moves(((2, 2), (4, 8))) == ["right", "left"]


@pytest.mark.parametrize(
    ("names", "move"),
    [
        (("W", "w", "up", "UP", " Up ", 0, "0"), "up"),
        (("D", "d", "right", 1, "1"), "right"),
        (("S", "s", "down", 2, "2"), "down"),
        (("A", "a", "left", 3, "3"), "left"),
    ],
)
def test_a_move_has_many_names(names: tuple[object, ...], move: str) -> None:
    assert {parse_move(name) for name in names} == {move}


class Shouting(str):
    """A text that is not what it seems."""

    def strip(self, *_: object) -> str:
        return "w"


@pytest.mark.parametrize("answer", ["X", "", "4", 4, -1, True, 1.0, None, [], "W" * 99, Shouting()])
def test_what_is_no_move_is_refused(answer: object) -> None:
    with pytest.raises(ValueError, match="a move is W, A, S, D"):
        parse_move(answer)


def played(game: GameBoard, moves: int = 500) -> list[list[list[int]]]:
    chance = random.Random(5)
    boards: list[list[list[int]]] = [game.board()]
    while game.state() == "ongoing" and len(boards) < moves:
        game.play(chance.choice(game.legal_moves))
        boards.append(game.board())
    return boards


def test_a_game_begins_with_two_tiles() -> None:
    for seed in range(50):
        tiles = sorted(tile for row in GameBoard(seed=seed).board() for tile in row if tile)
        assert len(tiles) == 2
        assert set(tiles) <= {2, 4}


def test_a_seed_settles_the_tiles() -> None:
    assert played(GameBoard(seed=3)) == played(GameBoard(seed=3))
    assert played(GameBoard(seed=3)) != played(GameBoard(seed=4))


def test_a_game_without_a_seed_tells_the_one_it_drew() -> None:
    game = GameBoard()
    assert played(GameBoard(seed=game.seed)) == played(game)


def test_one_new_tile_in_ten_is_a_four() -> None:
    new = [tile for seed in range(2000) for row in GameBoard(seed=seed).board() for tile in row]
    share = new.count(4) / (new.count(2) + new.count(4))
    assert 0.08 < share < 0.12
    always = GameBoard(seed=1, probability_fours=1.0).board()
    assert {tile for row in always for tile in row} == {0, 4}


def test_each_move_adds_one_tile_and_its_merges_to_the_score() -> None:
    game, chance = GameBoard(seed=11), random.Random(1)
    while game.state() == "ongoing":
        before, score = game.board(), game.score
        move = chance.choice(game.legal_moves)
        slid, points = shift(tuple(map(tuple, before)), move)
        assert game.play(move) == points
        assert game.score == score + points
        after = [tile for row in game.board() for tile in row]
        changed = [
            (old, new)
            for old, new in zip((tile for row in slid for tile in row), after, strict=True)
            if old != new
        ]
        assert changed in ([(0, 2)], [(0, 4)])
    assert legal_moves(tuple(map(tuple, game.board()))) == []
    assert (game.state(), game.legal_moves) == ("failed", [])


def test_a_move_that_changes_nothing_adds_no_tile() -> None:
    game = GameBoard(seed=1)
    while len(game.legal_moves) == len(MOVES):
        game.play(game.legal_moves[0])
    (illegal, *_) = set(MOVES) - set(game.legal_moves)
    before = game.board()
    assert game.play(illegal) == 0
    assert game.board() == before


def test_the_target_wins_and_without_one_the_game_goes_on() -> None:
    won = GameBoard(seed=2, target=16)
    played(won)
    assert (won.state(), won.highest_tile) == ("success", 16)
    free = GameBoard(seed=2)
    played(free)
    assert free.highest_tile > 16
    assert free.state() == "failed"


def test_keys_are_played_as_at_a_keyboard() -> None:
    game = GameBoard(seed=6)
    for key in "WASDwasd":
        game.do_action(key)
    assert game.steps > 0
    assert game.state() == "ongoing"
    game.do_action("q")
    assert game.state() == "failed"
    board = game.board()
    game.do_action("W")
    assert game.board() == board


@pytest.mark.parametrize("key", ["", "jump", None, object(), 7])
def test_a_key_that_is_no_move_fails_the_game(key: object) -> None:
    game = GameBoard(seed=6)
    assert game.do_action(key) == 0
    assert game.state() == "failed"


def test_the_board_that_is_given_is_a_copy() -> None:
    game = GameBoard(seed=6)
    board = game.board()
    board[0][0] = 2048
    assert game.board() != board


def test_the_text_stands_in_columns() -> None:
    game = GameBoard(size=2, seed=0)
    rows = game.board().pretty().splitlines()
    assert [row.split() for row in rows] == [
        [str(tile) if tile else "." for tile in row] for row in game.board()
    ]


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_boards_of_other_sizes_are_played_to_their_end(size: int) -> None:
    game = GameBoard(size=size, seed=1)
    boards = played(game)
    assert {len(row) for board in boards for row in board} == {size}


def test_a_board_is_no_smaller_than_two() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        GameBoard(size=1)
