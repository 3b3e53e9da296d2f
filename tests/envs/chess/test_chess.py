"""The chess environment: what is seen, said, paid and told."""

import io
import random
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("chess", reason="pip install -e 'envs/chess_env[dev]'")

import chess.pgn

from chess_env import ChessAction, ChessEnv, ChessObservation, ChessState
from chess_env.server import ChessEnvironment
from openenv import InvalidRequest, SyncEnvClient, errors, local
from tests.markup import buttons_of, view_of

Board = SyncEnvClient[ChessAction, ChessObservation, ChessState]

BLACK_TO_MOVE = "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2"
WON = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"


@pytest.fixture(params=["local", "served"])
def board(request: pytest.FixtureRequest) -> Iterator[Board]:
    """A board in this process, and one behind a socket."""
    client: Board
    if request.param == "local":
        client = local(ChessEnvironment, client_class=ChessEnv).sync()
    else:
        client = ChessEnv(base_url=request.getfixturevalue("chess_url")).sync()
    with client:
        yield client


def move(uci: str) -> ChessAction:
    return ChessAction(move=uci)


def test_a_game_over_the_wire(board: Board) -> None:
    chance = random.Random(1)
    result = board.reset(seed=4, opponent="random", max_moves=60)
    while not result.done:
        assert result.reward == 0.0
        result = board.step(move(chance.choice(result.observation.legal_moves)))
    assert result.observation.result is not None
    assert len(board.state().move_history) <= 60
    assert result.observation == ChessObservation.model_validate(result.observation.model_dump())


def test_everything_is_said_in_words_and_numbers(board: Board) -> None:
    board.reset(seed=0, opponent="none")
    board.step(move("e2e4"))
    seen = board.step(move("d7d5")).observation
    assert seen.text.splitlines() == [
        "You play both sides, for white. Move 2: white to move.",
        "Last moves: e2e4 d7d5",
        "  a b c d e f g h",
        "8 r n b q k b n r 8",
        "7 p p p . p p p p 7",
        "6 . . . . . . . . 6",
        "5 . . . p . . . . 5",
        "4 . . . . P . . . 4",
        "3 . . . . . . . . 3",
        "2 P P P P . P P P 2",
        "1 R N B Q K B N R 1",
        "  a b c d e f g h",
        f"Legal moves: {' '.join(seen.legal_moves)}",
        "Answer with one of them. Checkmate pays 1, being mated -1, a draw 0, a move that is not "
        "legal -0.1. Capitals are white's pieces.",
    ]
    assert seen.board[:8] == [4, 2, 3, 5, 6, 3, 2, 4]
    assert seen.board[chess.E4] == 1
    assert seen.board[chess.D5] == -1
    assert seen.flags == [1, 1, 1, 1, 1, 1, -1, 0]
    assert "e4d5" in seen.legal_moves


def test_the_end_is_said_in_words(board: Board) -> None:
    board.reset(fen=WON, opponent="none", agent_color="white")
    seen = board.step(move("f7g7")).observation
    assert seen.text.startswith(
        "You play both sides, for white. The game is over: 1-0 (checkmate)."
    )
    assert "Legal moves" not in seen.text


# --- colours ------------------------------------------------------------------------------------


@pytest.mark.parametrize("color", ["white", "black"])
def test_the_agent_is_told_its_colour(board: Board, color: str) -> None:
    seen = board.reset(agent_color=color, opponent="random").observation
    assert seen.metadata["agent_color"] == color
    assert seen.text.startswith(f"You play {color}.")
    assert seen.flags[1] == (color == "white")
    assert board.state().agent_color == board.state().current_player == color
    assert len(board.state().move_history) == (color == "black")


@pytest.mark.parametrize("color", ["white", "black"])
def test_a_position_does_not_swap_colours(board: Board, color: str) -> None:
    seen = board.reset(agent_color=color, opponent="random", fen=BLACK_TO_MOVE).observation
    assert seen.metadata["agent_color"] == color
    assert board.state().current_player == color or seen.done
    assert len(board.state().move_history) == (color == "white")


def test_colours_take_turns(board: Board) -> None:
    told = [board.reset(seed=seed).observation.metadata["agent_color"] for seed in range(4)]
    assert told == ["white", "black"] * 2
    told = [board.reset(opponent="random").observation.metadata["agent_color"] for _ in range(5)]
    assert told == ["white", "black", "white", "black", "white"]
    seed = board.state().seed
    assert seed is not None
    assert board.reset(seed=seed).observation.metadata["agent_color"] == "white"


def test_who_is_mated_loses_whatever_its_colour(board: Board) -> None:
    rewards = {}
    for color in ("white", "black"):
        board.reset(fen=BLACK_TO_MOVE, opponent="none", agent_color=color)
        rewards[color] = board.step(move("d8h4")).reward
    assert rewards == {"white": -1.0, "black": 1.0}


# --- moves --------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["g1f3", "Nf3", " g1f3\n", "Ng1f3", "N1f3"])
def test_a_move_may_be_said_in_each_notation(board: Board, said: str) -> None:
    board.reset(opponent="none")
    board.step(move(said))
    assert board.state().move_history == ["g1f3"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("e2e5", "is not legal here"),
        ("Ke2", "is not legal here"),
        ("Nd2", "means more than one legal move"),
        ("zzzz", "is no move"),
        ("", "is no move"),
        ("--", "nobody may pass"),
        ("0000", "nobody may pass"),
        ("\u202ee2e4\0", "is no move"),
        ("I would play e2e4, because it is the best move there is", "is no move"),
    ],
)
def test_an_illegal_move_costs_and_moves_nothing(board: Board, said: str, why: str) -> None:
    fen = "4k3/8/8/8/8/8/8/1N3N1K w - - 0 1"
    before = board.reset(opponent="none", fen=fen).observation
    after = board.step(move(said))
    error = after.observation.metadata["error"]
    assert why in error
    assert before.legal_moves[0] in error
    assert error.isprintable() and error.isascii()
    refused, text = after.observation.text.split("\n", 1)
    assert error.startswith(f"{refused.removeprefix('Refused: ')}; legal are")
    assert text == before.text
    assert (after.reward, after.done, after.observation.fen) == (-0.1, False, fen)
    assert board.state().move_history == []
    assert after.observation.metadata["illegal_moves"] == 1


def test_a_number_of_illegal_moves_may_lose_the_game(board: Board) -> None:
    board.reset(opponent="random", agent_color="black", forfeit_after=3)
    board.step(move("a7a6"))
    assert [board.step(move("a1a1")).reward for _ in range(2)] == [-0.1, -0.1]
    end = board.step(move("a1a1"))
    assert (end.done, end.reward, end.observation.result) == (True, -1.0, "1-0")
    assert end.observation.metadata["termination"] == "illegal_moves"
    assert end.observation.metadata["discounted_rewards"] == [-1.0]
    assert end.observation.metadata["step_rewards"] == [-0.99, -1.0]
    assert "lost" in end.observation.metadata["error"]
    assert end.observation.text.splitlines()[0] == (
        "Refused: 'a1a1' is not legal here; that was one too many: the game is lost"
    )


def test_a_step_after_the_end_changes_nothing(board: Board) -> None:
    board.reset(fen=WON, opponent="none", agent_color="white")
    end = board.step(move("Qg7#"))
    state = board.state()
    for said in ("f7g7", "h8g7", "nonsense"):
        after = board.step(move(said))
        assert (after.done, after.reward) == (True, 0.0)
        assert "reset()" in after.observation.metadata["error"]
        ignored = {"reward", "metadata", "text"}
        why = after.observation.metadata["error"]
        assert after.observation.text == f"Refused: {why}\n{end.observation.text}"
        assert after.observation.model_dump(exclude=ignored) == end.observation.model_dump(
            exclude=ignored
        )
    assert board.state() == state


def test_a_step_before_the_first_reset_is_refused(board: Board) -> None:
    with pytest.raises(errors.ResetRequired, match="reset"):
        board.step(move("e2e4"))
    board.reset(opponent="none")
    assert not board.step(move("e2e4")).done


# --- rewards and evaluation ---------------------------------------------------------------------


def test_the_reward_is_shared_out_at_the_end(board: Board) -> None:
    board.reset(opponent="none", agent_color="white", gamma=0.5)
    for said in ("e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6"):
        assert "discounted_rewards" not in board.step(move(said)).observation.metadata
    end = board.step(move("Qxf7#"))
    assert end.reward == 1.0
    told = end.observation.metadata
    assert told["discounted_rewards"] == [0.5**left for left in range(6, -1, -1)]
    assert told["gamma"] == 0.5
    assert told["step_rewards"] == told["discounted_rewards"]
    assert "step_rewards" not in board.step(move("e7e5")).observation.metadata
    board.reset(agent_color="white", max_moves=1)
    end = board.step(move("e2e4"))
    assert (end.reward, end.observation.metadata["step_rewards"]) == (0.0, [0.0])


def test_only_the_agents_own_moves_share_the_reward(board: Board) -> None:
    result = board.reset(opponent="random", agent_color="white", max_moves=6)
    while not result.done:
        result = board.step(move(result.observation.legal_moves[0]))
    assert len(board.state().move_history) == 6
    assert result.observation.metadata["discounted_rewards"] == [0.0, 0.0, 0.0]
    assert result.observation.metadata["step_rewards"] == [0.0, 0.0, 0.0]


def test_a_refused_reset_leaves_the_credit_of_the_game_that_goes_on(board: Board) -> None:
    board.reset(opponent="none", agent_color="white", gamma=0.5)
    board.step(move("f3"))
    with pytest.raises(errors.InvalidRequest):
        board.reset(opponent="a friend")
    for said in ("e5", "g4"):
        board.step(move(said))
    end = board.step(move("Qh4#"))
    assert end.observation.metadata["step_rewards"] == [-0.125, -0.25, -0.5, -1.0]


def test_an_evaluation_says_for_whom_it_is(board: Board) -> None:
    queen_more = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR {} KQkq - 0 1"
    for turn, sign in (("w", 1), ("b", -1)):
        told = board.reset(opponent="none", fen=queen_more.format(turn)).observation.metadata
        assert told["evaluation_white"] > 800
        assert told["evaluation"] == sign * told["evaluation_white"]
    assert board.reset(opponent="none").observation.metadata["evaluation"] == 0.0


# --- state and records --------------------------------------------------------------------------


def test_the_state_tells_the_game(board: Board) -> None:
    board.reset(seed=6, episode_id="game 6", opponent="random")
    board.step(move("e2e4"))
    board.step(move("nonsense"))
    state = board.state()
    assert (state.episode_id, state.seed, state.opponent) == ("game 6", 6, "random")
    assert (state.agent_color, state.current_player, state.result) == ("white", "white", None)
    assert state.step_count == 2
    assert len(state.move_history) == 2
    replayed = chess.Board()
    for uci in state.move_history:
        replayed.push_uci(uci)
    assert replayed.fen() == state.fen


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, BLACK_TO_MOVE])
def test_a_chess_program_can_replay_the_record(board: Board, fen: str) -> None:
    chance = random.Random(3)
    result = board.reset(seed=9, opponent="random", max_moves=70, fen=fen, agent_color="black")
    for _ in range(5):
        result = board.step(move(chance.choice(result.observation.legal_moves)))
    assert _replayed(board).headers["Result"] == "*"
    while not result.done:
        result = board.step(move(chance.choice(result.observation.legal_moves)))
    headers = _replayed(board).headers
    assert headers["Result"] == result.observation.result
    assert (headers["White"], headers["Black"]) == ("random", "agent")
    assert headers.get("FEN", chess.STARTING_FEN) == fen


def _replayed(board: Board) -> chess.pgn.Game:
    """The game's record as read by a program, checked against the state."""
    text: str = board.pgn()
    assert max(map(len, text.splitlines())) <= 100
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert game.errors == []
    state = board.state()
    assert [step.uci() for step in game.mainline_moves()] == state.move_history
    assert game.end().board().fen() == state.fen
    return game


def test_a_record_is_numbered_as_the_game_is(board: Board) -> None:
    board.reset(opponent="none", fen=BLACK_TO_MOVE)
    for said in ("a5", "a3", "Qh4#"):
        board.step(move(said))
    assert board.pgn().endswith("\n\n2... a5 3. a3 Qh4# 0-1\n")


def test_before_the_first_game_there_is_no_record(board: Board) -> None:
    assert board.pgn() == ""


def test_a_page_shows_the_board_from_the_agent_s_side() -> None:
    env = ChessEnvironment(opponent="none", agent_color="black")
    seen = env.reset(fen="4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    shown = view_of(env, seen)
    assert shown.labels == ["A chessboard. white: king e1, pawn a7; black: king e8."]
    board = " ".join(shown.words.replace("\ufe0e", "").split())
    assert board == "You black To move white Move 1 1 ♚ 2 3 4 5 6 7 ♟ 8 h g f e ♚ d c b a"
    assert not any("moved" in kind or "check" in kind for kind in shown.classes)
    seen = env.step(move("a7a8q"))
    shown = view_of(env, seen)
    assert "dark moved" in shown.classes and "light moved white" in shown.classes
    assert "light check black" in shown.classes
    assert shown.words.endswith("Moves 1. a8=Q+")


def test_the_legal_moves_are_buttons_in_san() -> None:
    env = ChessEnvironment(opponent="none")
    seen = env.reset(fen="4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    buttons = buttons_of(env, seen)
    assert buttons[:2] == [("a8=B", {"move": "a7a8b"}), ("a8=N", {"move": "a7a8n"})]
    assert {action["move"] for _, action in buttons} == set(seen.legal_moves)
    many = env.reset(fen="R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    assert len(many.legal_moves) == 218
    assert len(buttons_of(env, many)) == 100


def test_on_the_page_of_a_game_that_is_over_nothing_moves() -> None:
    env = ChessEnvironment(opponent="none")
    env.reset(fen="7k/8/8/8/8/8/8/K6R b - - 99 90")
    end = env.step(move("h8g7"))
    assert buttons_of(env, end) == []
    assert "A draw: fifty moves." in view_of(env, end).words


# --- options ------------------------------------------------------------------------------------


def test_options_are_taken_from_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHESS_OPPONENT", "random")
    monkeypatch.setenv("CHESS_AGENT_COLOR", "black")
    monkeypatch.setenv("CHESS_MAX_MOVES", "7")
    env = ChessEnvironment(agent_color="white")
    env.reset()
    assert (env.state.opponent, env.state.agent_color) == ("random", "white")
    env.reset(opponent="none", agent_color="black")
    assert (env.state.opponent, env.state.agent_color) == ("none", "black")
    env.reset()
    assert (env.state.opponent, env.state.agent_color) == ("random", "white")


@pytest.mark.parametrize(
    ("given", "played"),
    [(None, "none"), ("self", "none"), ("moonfish", "builtin"), ("random", "random")],
)
def test_opponents_have_their_former_names(given: str | None, played: str) -> None:
    env = ChessEnvironment(
        opponent=given, opponent_depth=1, max_moves=4, agent_color=None, gamma=0.9
    )
    assert env.reset(seed=1).metadata["opponent"] == played


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"opponent": "kasparov"}, "opponent"),
        ({"opponent": ["random"]}, "opponent"),
        ({"agent_color": {"white": 1}}, "agent_color"),
        ({"opponent_depth": 9}, "opponent_depth"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "no white king"),
        ({"fen": "invalid fen"}, "fen"),
        ({"fen": "4k3/8/8/8/8/8/8/4K2Q b - - 0 99999999999999999999"}, "counters"),
        ({"fen": "4k3/4Q3/8/8/8/8/8/4K3 w - - 0 1"}, "opposite check"),
        ({"fen": "x" * 1000}, "at most 128"),
        ({"max_move": 9}, "did you mean max_moves"),
        ({"uci_path": "/bin/sh"}, "CHESS_UCI_PATH"),
        ({"uci_path": ""}, "CHESS_UCI_PATH"),
        ({"opponent": "uci"}, "CHESS_UCI_PATH"),
    ],
)
def test_a_refused_reset_lets_the_game_go_on(
    board: Board, options: dict[str, Any], named: str
) -> None:
    board.reset(opponent="none")
    board.step(move("e2e4"))
    with pytest.raises((InvalidRequest, errors.EnvironmentFailed), match=named):
        board.reset(**options)
    board.step(move("e7e5"))
    assert board.state().move_history == ["e2e4", "e7e5"]


def test_a_fen_that_is_none_is_repeated_once(board: Board) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        board.reset(fen="junk")
    expected = "fen: expected 8 rows in position part of fen, got 'junk'"
    assert expected in str(refusal.value)


def test_a_wrong_argument_is_named() -> None:
    with pytest.raises(ValueError, match="opponent_depth"):
        ChessEnvironment(opponent_depth=0)
    with pytest.raises(ValueError, match="depth_of_opponent"):
        ChessEnvironment(depth_of_opponent=2)
