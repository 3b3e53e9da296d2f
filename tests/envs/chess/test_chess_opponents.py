"""Who sits on the other side: chance, and the built-in engine in its levels."""

import random

import pytest

pytest.importorskip("chess", reason="pip install -e 'envs/chess_env[dev]'")

import chess

from chess_env import ChessAction
from chess_env.models import START
from chess_env.server import ChessEnvironment
from chess_env.server.evaluation import evaluate
from chess_env.server.game import Game
from chess_env.server.ladder import elo, main, match
from chess_env.server.search import Search

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"
PUZZLES = {
    MATE_IN_ONE: "a1a8",
    "4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1": "e4d5",  # takes a queen
    "4k3/2p5/3p4/8/8/6q1/3B3P/4K3 w - - 0 1": "h2g3",  # with the piece that is worth less
    "8/P6k/8/8/8/8/8/K7 w - - 0 1": "a7a8q",
    "6k1/5ppp/8/8/1b6/7P/r4PP1/1R4K1 w - - 0 1": "b1b4",
}


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("fen", PUZZLES)
def test_the_engine_sees_what_is_plain(fen: str, depth: int) -> None:
    found = Search(chess.Board(fen), 20_000).best(depth, random.Random(1))
    assert found.uci() == PUZZLES[fen]


def test_depth_sees_what_a_capture_costs() -> None:
    mated_for_a_bishop = chess.Board("6k1/5ppp/8/8/1b6/8/r4PPP/1R4K1 w - - 0 1")
    moves = [Search(mated_for_a_bishop, 20_000).best(depth, random.Random(1)) for depth in (1, 2)]
    assert moves[0].uci() == "b1b4"
    assert moves[1].uci() != "b1b4"


def test_depth_sees_a_mate_further_off() -> None:
    game = Game(MATE_IN_TWO)
    for _ in range(3):
        game.play(Search(game.board, 50_000).best(3, random.Random(1)))
    assert game.ending is not None
    assert game.ending.reason == "checkmate"


def test_the_engine_makes_no_draw_of_a_game_it_wins() -> None:
    game, chance = Game("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", max_moves=120), random.Random(2)
    while not game.ending:
        mover = game.board.turn
        found = Search(game.board, 20_000).best(3, chance) if mover else chance.choice(game.legal)
        game.play(found)
    assert game.ending.result == "1-0"


@pytest.mark.parametrize("nodes", [1, 10, 200])
def test_the_engine_looks_at_no_more_positions_than_it_may(nodes: int) -> None:
    board = chess.Board()
    search = Search(board, nodes)
    assert search.best(5, random.Random(1)) in board.legal_moves
    assert search.looked == nodes
    assert board.fen() == START


def test_an_evaluation_is_the_same_for_both_colours() -> None:
    chance, game = random.Random(5), Game(START)
    assert evaluate(game.board) == 0
    while not game.ending:
        game.play(chance.choice(game.legal))
        assert evaluate(game.board) == -evaluate(game.board.mirror())


def test_a_bare_king_is_driven_to_the_edge_by_the_other() -> None:
    worth = [
        evaluate(chess.Board(f"{ranks} w - - 0 1"))
        for ranks in ("8/8/8/4k3/8/8/8/K6R", "4k3/8/8/8/8/8/8/K6R", "4k3/8/4K3/8/8/8/8/7R")
    ]
    assert worth == sorted(worth)
    assert len(set(worth)) == 3


@pytest.mark.parametrize("opponent", ["random", "builtin"])
def test_the_seed_settles_what_the_opponent_does(opponent: str) -> None:
    def game(seed: int) -> list[str]:
        env = ChessEnvironment(opponent=opponent, max_moves=8, agent_color="black")
        seen = env.reset(seed=seed)
        while not seen.done:
            seen = env.step(ChessAction(move=seen.legal_moves[0]))
        return env.state.move_history

    assert game(3) == game(3)
    assert len({tuple(game(seed)) for seed in range(6)}) > 1


def test_the_depth_may_change_from_game_to_game() -> None:
    env = ChessEnvironment(opponent="builtin", agent_color="white", opponent_nodes=500)
    for depth in (1, 5):
        env.reset(opponent_depth=depth)
        seen = env.step(ChessAction(move="e2e4"))
        assert len(env.state.move_history) == 2
        assert "error" not in seen.metadata


# The seeds are fixed, so these games are the same everywhere; more of them: python -m
# chess_env.server.ladder.
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("level", "games", "half_moves"), [(1, 4, 120), (2, 4, 40), (3, 2, 30)])
def test_each_level_beats_the_one_below(level: int, games: int, half_moves: int) -> None:
    assert match(level, level - 1, games, half_moves) > 0.5


def test_shares_of_points_as_elo() -> None:
    assert elo(0.5, 10) == 0
    assert elo(0.76, 100) == pytest.approx(200, abs=1)
    assert elo(1.0, 10) == pytest.approx(-elo(0.0, 10)) == pytest.approx(512, abs=1)


def test_the_ladder_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--games", "2", "--levels", "1"])
    assert capsys.readouterr().out.startswith("level 1 against 0: ")
