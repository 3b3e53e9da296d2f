"""TextArena's own games, where it is installed."""

import random
import socket
from pathlib import Path

import pytest

pytest.importorskip("textarena", reason="pip install -e 'envs/textarena_env[dev]'")

import nltk  # type: ignore[import-not-found, import-untyped, unused-ignore]

from openenv import InvalidRequest
from textarena_env import TextArenaAction, TextArenaObservation
from textarena_env.server import TextArenaEnvironment, arena_game

# Some of TextArena's modules say this when they are compiled, which is when they are first used.
pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")


def say(env: TextArenaEnvironment, message: str) -> TextArenaObservation:
    """One step."""
    return env.step(TextArenaAction(message=message))


def test_two_players_take_turns() -> None:
    env = TextArenaEnvironment(env_id="TicTacToe-v0", num_players=2)
    first = env.reset(seed=1)
    assert (first.current_player_id, first.legal_players) == (0, [0])
    assert first.prompt.startswith("You are Player 0")
    seen = say(env, "I take [4]")
    assert seen.current_player_id == 1
    assert seen.prompt.startswith("You are Player 1")
    for move in ("[0]", "[3]", "[1]"):
        seen = say(env, move)
        assert (seen.reward, seen.done) == (0.0, False)
    seen = say(env, "[5]")
    assert (seen.reward, seen.done) == (1.0, True)
    assert seen.info["rewards"] == {"0": 1, "1": -1}
    assert env.state.turn == env.state.step_count == 5


def test_a_wrong_move_is_told_as_an_error() -> None:
    env = TextArenaEnvironment(env_id="TicTacToe-v0", num_players=2)
    env.reset(seed=1)
    seen = say(env, "nothing")
    assert "invalid move" in seen.metadata["error"]
    assert seen.text.startswith(f"Refused: {seen.metadata['error']}\nYou are Player 0")
    assert (seen.current_player_id, seen.done) == (0, False)
    seen = say(env, "nothing again")
    assert seen.done
    assert seen.metadata["error"]
    assert seen.reward == -1.0


def test_a_game_that_never_answers_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    env, other = TextArenaEnvironment(), TextArenaEnvironment()
    seen = env.reset(seed=1, env_id="PublicGoodsGame-v0", num_players=1)
    monkeypatch.setattr(arena_game, "MOVE_S", 1.0)
    for _ in range(50):
        if seen.done:
            break
        seen = say(env, "nothing")  # once its only player is out, it looks for the next for ever
    assert (seen.done, seen.reward) == (True, 0.0)
    assert "in time" in seen.metadata["error"]
    assert "reset()" in say(env, "nothing").metadata["error"]
    monkeypatch.undo()
    other.reset(seed=1, env_id="TicTacToe-v0", num_players=2)
    assert say(other, "[4]").current_player_id == 1


def test_a_message_that_would_take_long_to_search_is_not_taken() -> None:
    env = TextArenaEnvironment()
    before = env.reset(seed=1, env_id="ConnectFour-v0", num_players=2)
    seen = say(env, "[" * 4001)
    assert "4001 characters; 4000" in seen.metadata["error"]
    assert (seen.reward, seen.done, seen.messages) == (0.0, False, before.messages)
    assert (env.state.step_count, env.state.turn) == (1, 0)
    assert say(env, f"{'I think. ' * 400}[3]").current_player_id == 1


def test_nothing_of_a_game_s_own_state_is_told() -> None:
    env = TextArenaEnvironment(env_id="GuessTheNumber-v0")
    env.reset(seed=1)
    say(env, "[1]")
    assert set(env.state.raw_state) == {"done", "current_player_id"}
    assert "game_number" not in env.state.model_dump_json()


def test_players_see_their_own_cards() -> None:
    env = TextArenaEnvironment(env_id="KuhnPoker-v0", num_players=2)
    first = env.reset(seed=3)
    second = say(env, "[check]")
    assert first.current_player_id != second.current_player_id
    cards = [seen.text.split("Your card is: '")[1][0] for seen in (first, second)]
    assert cards[0] != cards[1]


@pytest.mark.parametrize("env_id", ["GuessTheNumber-v0", "KuhnPoker-v0", "Mastermind-v0"])
def test_sessions_draw_from_streams_of_their_own(env_id: str) -> None:
    players = 2 if env_id == "KuhnPoker-v0" else 1

    def texts(*, mixed: bool) -> list[str]:
        env = TextArenaEnvironment(env_id=env_id, num_players=players)
        other = TextArenaEnvironment(env_id=env_id, num_players=players)
        told = [env.reset(seed=5).text]
        for _ in range(6):
            if mixed:
                other.reset()
                random.random()
            told.append(say(env, "[call] [check] [1 2 3 4] [7]").text)
        return told

    assert texts(mixed=False) == texts(mixed=True)


def test_the_global_generator_is_left_alone() -> None:
    random.seed(1)
    before = random.getstate()
    env = TextArenaEnvironment(env_id="GuessTheNumber-v0")
    env.reset(seed=5)
    say(env, "[3]")
    assert random.getstate() == before


def test_the_seed_matters() -> None:
    def hints(seed: int) -> str:
        env = TextArenaEnvironment(env_id="GuessTheNumber-v0-hardcore")
        env.reset(seed=seed)
        return "".join(say(env, f"[{n}]").messages[-1].content for n in (25, 12, 37))

    assert len({hints(seed) for seed in range(12)}) > 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"env_id": "TicTacTow-v0"}, "TicTacToe-v0"),
        ({"env_id": "tictactoe"}, "there is TicTacToe-v0"),
        ({"env_id": "TicTacToe-v0", "num_players": 3}, "cannot begin"),
        ({"env_id": "TicTacToe-v0", "num_players": 2, "env_kwargs": {"size": 9}}, "ENV_KWARGS"),
        ({"env_id": "TicTacToe-v0", "num_players": 2, "download_nltk": True}, "DOWNLOAD_NLTK"),
        ({"env_id": "Wordle-v0", "engine": "textarena"}, "TEXTARENA_ENGINE"),
        ({"env_id": "TicTacToe-v0", "num_players": 2, "engine": "builtin"}, "built in"),
    ],
)
def test_wrong_options_are_refused_and_the_game_goes_on(
    options: dict[str, object], why: str
) -> None:
    env = TextArenaEnvironment()
    env.reset(seed=1, episode_id="mine")
    with pytest.raises(InvalidRequest, match=why):
        env.reset(None, None, **options)
    assert env.state.episode_id == "mine"
    assert not say(env, "[crane]").done


def test_words_that_are_missing_are_asked_for_by_the_variable_s_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tried = []
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: tried.append(address))
    env, download = TextArenaEnvironment(), nltk.download
    for _ in range(2):
        with pytest.raises(InvalidRequest, match="TEXTARENA_DOWNLOAD_NLTK=1, which fetches them"):
            env.reset(env_id="Hangman-v0")
    assert tried == []
    assert nltk.download == download


def test_another_game_begins_without_parameters() -> None:
    env = TextArenaEnvironment(env_kwargs={"num_guesses": 9})
    assert "9 guesses" in env.reset(seed=1).prompt
    assert env.reset(env_id="TicTacToe-v0", num_players=2).prompt
    assert "9 guesses" in env.reset(seed=1).prompt


def test_the_server_may_give_parameters() -> None:
    env = TextArenaEnvironment(
        env_id="GuessTheNumber-v0", env_kwargs={"min_number": 1, "max_number": 3}
    )
    assert "between 1 and 3" in env.reset(seed=1).prompt


@pytest.mark.parametrize("env_id", ["Cryptarithm-v0", "Countdown-v0", "TowerOfHanoi-v0", "Nim-v0"])
def test_whatever_is_said_a_game_answers(env_id: str) -> None:
    env = TextArenaEnvironment(env_id=env_id, num_players=2 if env_id == "Nim-v0" else 1)
    for seed in range(3):
        seen = env.reset(seed=seed)
        assert seen.prompt
        for message in (
            "[A 1]",
            "[0 1 +]",
            "[0 1]",
            "",
            "\0",
            "[" * 5000,
            "[99999999999999999999]",
        ):
            seen = say(env, message)
            assert isinstance(seen.reward, float)
            assert seen.messages
