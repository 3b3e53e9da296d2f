"""The rules of chess: moves from known positions, and every way in which a game ends."""

import random
from collections.abc import Iterable
from typing import Any

import pytest

pytest.importorskip("chess", reason="pip install -e 'envs/chess_env[dev]'")

import chess

from chess_env import ChessAction, ChessObservation
from chess_env.models import START
from chess_env.server import ChessEnvironment
from chess_env.server.game import Game
from chess_env.server.view import Picture

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")
KNIGHTS_OUT_AND_BACK = ("g1f3", "g8f6", "f3g1", "f6g8")


def played(
    moves: Iterable[str], fen: str = START, *, agent_color: str = "white", **options: Any
) -> ChessObservation:
    """What is seen after moves of both sides."""
    env = ChessEnvironment(opponent="none", agent_color=agent_color, **options)
    seen = env.reset(seed=0, fen=fen)
    for move in moves:
        assert not seen.done, move
        seen = env.step(ChessAction(move=move))
        assert "error" not in seen.metadata
    return seen


def test_a_game_begins_as_chess_does() -> None:
    seen = played([])
    assert seen.fen == START
    assert len(seen.legal_moves) == 20
    assert (seen.reward, seen.done, seen.is_check, seen.result) == (0.0, False, False, None)


# The numbers of positions are those that every chess programmer counts (perft).
@pytest.mark.parametrize(
    ("fen", "depth", "positions"),
    [
        (START, 3, 8902),
        (KIWIPETE, 2, 2039),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3, 2812),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 2, 264),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 2, 1486),
        ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 2, 2079),
    ],
)
def test_positions_are_counted(fen: str, depth: int, positions: int) -> None:
    assert _count(fen, depth) == positions


def _count(fen: str, depth: int) -> int:
    """Positions that follow, each reached by a game of its own."""
    game = Game(fen, claim_draws=False)
    if depth == 1:
        return len(game.legal)
    total = 0
    for move in game.legal:
        after = Game(fen, claim_draws=False)
        after.play(move)
        total += _count(after.board.fen(), depth - 1)
    return total


@pytest.mark.parametrize(
    ("fen", "move", "after"),
    [
        (KIWIPETE, "e1g1", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R4RK1 b kq - 1 1"),
        (KIWIPETE, "O-O-O", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/2KR3R b kq - 1 1"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "4k3/8/3P4/8/8/8/8/4K3 b - - 0 2"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "N3k3/8/8/8/8/8/8/4K3 b - - 0 1"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a8=Q+", "Q3k3/8/8/8/8/8/8/4K3 b - - 0 1"),
    ],
)
def test_special_moves(fen: str, move: str, after: str) -> None:
    assert played([move], fen).fen == after


@pytest.mark.parametrize(
    ("fen", "move"),
    [
        ("4k3/8/8/8/8/8/8/R3K2r w Q - 0 1", "e1c1"),  # in check
        ("4k3/8/8/8/8/8/5r2/4K2R w K - 0 1", "e1g1"),  # through check
        ("4k3/8/8/8/8/8/3r4/4K3 w - - 0 1", "e1d1"),  # into check
        ("4r1k1/8/8/8/8/8/4B3/4K3 w - - 0 1", "e2d3"),  # pinned
        ("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 2", "e5d6"),  # both pawns leave the king's rank
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8"),  # a promotion says to what
    ],
)
def test_what_the_rules_forbid(fen: str, move: str) -> None:
    env = ChessEnvironment(opponent="none")
    before = env.reset(seed=0, fen=fen)
    after = env.step(ChessAction(move=move))
    assert move not in before.legal_moves
    assert (after.fen, after.reward, after.done) == (before.fen, -0.1, False)


@pytest.mark.parametrize(
    ("fen", "moves", "result", "reason"),
    [
        (START, FOOLS_MATE, "0-1", "checkmate"),
        ("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", ["f7g7"], "1-0", "checkmate"),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", ["f1f7"], "1/2-1/2", "stalemate"),
        ("7k/8/8/8/8/8/1p6/K7 w - - 0 1", ["a1b2"], "1/2-1/2", "insufficient_material"),
        (START, KNIGHTS_OUT_AND_BACK * 2, "1/2-1/2", "threefold_repetition"),
        ("7k/8/8/8/8/8/8/K5R1 w - - 99 90", ["g1f1"], "1/2-1/2", "fifty_moves"),
    ],
)
def test_a_game_ends(fen: str, moves: Iterable[str], result: str, reason: str) -> None:
    seen = played(moves, fen)
    assert (seen.done, seen.truncated, seen.result) == (True, False, result)
    assert seen.metadata["termination"] == reason
    assert seen.legal_moves == []
    assert seen.reward == {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}[result]


@pytest.mark.parametrize(
    ("fen", "moves", "reason"),
    [
        (START, KNIGHTS_OUT_AND_BACK * 4, "fivefold_repetition"),
        ("7k/8/8/8/8/8/8/K5R1 w - - 149 90", ["g1f1"], "seventyfive_moves"),
    ],
)
def test_without_claims_games_go_on_until_they_may_not(
    fen: str, moves: Iterable[str], reason: str
) -> None:
    assert played(moves, fen, claim_draws=False).metadata["termination"] == reason


def test_checkmate_comes_before_the_fiftieth_move() -> None:
    seen = played(["f7g7"], "7k/5Q2/6K1/8/8/8/8/8 w - - 99 90")
    assert (seen.result, seen.metadata["termination"]) == ("1-0", "checkmate")


def test_a_game_that_takes_too_long_is_cut_off() -> None:
    seen = played(["e2e4", "e7e5", "g1f3"], max_moves=3)
    assert (seen.done, seen.truncated, seen.reward, seen.result) == (True, True, 0.0, "1/2-1/2")
    assert seen.metadata["termination"] == "max_moves"


def test_a_game_may_be_over_before_it_begins() -> None:
    env = ChessEnvironment(opponent="random")
    seen = env.reset(fen="7k/6Q1/6K1/8/8/8/8/8 b - - 1 1", agent_color="black")
    assert (seen.done, seen.reward, seen.result) == (True, 0.0, "1-0")
    assert env.step(ChessAction(move="h8g7")).done


@pytest.mark.parametrize("seed", range(6))
def test_what_is_seen_agrees_with_the_board(seed: int) -> None:
    chance, game = random.Random(seed), Game(START)
    while not game.ending:
        picture, board = Picture(game.board), game.board
        assert picture.fen() == board.fen()
        for square, number in enumerate(picture.squares):
            piece = board.piece_at(square)
            sign = 0 if piece is None else (1 if piece.color else -1)
            assert number == sign * (piece.piece_type if piece else 0)
        white, _, *rights, passed, quiet = picture.flags(chess.WHITE)
        assert (bool(white), quiet) == (board.turn, board.halfmove_clock)
        told = [board.has_kingside_castling_rights, board.has_queenside_castling_rights]
        assert rights == [int(right(side)) for side in (True, False) for right in told]
        assert (passed != -1) == board.has_legal_en_passant()
        game.play(chance.choice(game.legal))
