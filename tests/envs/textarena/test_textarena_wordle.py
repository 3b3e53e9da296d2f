"""Wordle: marks, guesses, words, signals, and a secret that is kept."""

import random
import re
from collections import Counter

import pytest

from openenv import InvalidRequest, errors
from tests.markup import view_of
from textarena_env import (
    TextArenaAction,
    TextArenaMessage,
    TextArenaObservation,
    build_reward_providers,
    wordle,
)
from textarena_env.server import TextArenaEnvironment
from textarena_env.server.wordle_game import words


def say(env: TextArenaEnvironment, message: str) -> TextArenaObservation:
    """One step."""
    return env.step(TextArenaAction(message=message))


def guesses(number: int, seed: int = 0) -> list[str]:
    """Different words that may be guessed."""
    return random.Random(seed).sample(sorted(words("guesses") - words("answers")), number)


def secret_of(seed: int) -> str:
    """The word of a seed, as a lost game tells it."""
    env = TextArenaEnvironment()
    env.reset(seed=seed)
    for guess in guesses(6):
        seen = say(env, f"[{guess}]")
    assert seen.done
    return seen.messages[-1].content.split("[")[-1][:5]


@pytest.mark.parametrize(
    ("guess", "secret", "given"),
    [
        ("crane", "crane", "GGGGG"),
        ("crane", "build", "XXXXX"),
        ("angle", "eagle", "YXGGG"),
        ("eerie", "these", "YXXXG"),
        ("speed", "erase", "YXYYX"),
        ("llama", "label", "GYYXX"),
        ("allay", "llama", "YGYYX"),
        ("geese", "eagle", "YYXXG"),
        ("aback", "kayak", "YXYXG"),
    ],
)
def test_letters_are_marked(guess: str, secret: str, given: str) -> None:
    assert wordle.marks(guess, secret) == given


def test_a_letter_is_marked_as_often_as_the_secret_has_it() -> None:
    chance, pool = random.Random(0), sorted(words("guesses"))
    for _ in range(3000):
        guess, secret = chance.choice(pool), chance.choice(pool)
        given = wordle.marks(guess, secret)
        marked = Counter(letter for letter, mark in zip(guess, given, strict=True) if mark != "X")
        assert marked == Counter(guess) & Counter(secret)
        assert [mark == "G" for mark in given] == [
            ours == theirs for ours, theirs in zip(guess, secret, strict=True)
        ]


def test_the_words_are_words_of_five_letters() -> None:
    assert words("answers") < words("guesses")
    assert len(words("answers")) > 500
    assert len(words("guesses")) > 3500
    assert all(len(word) == 5 and word.isascii() and word.islower() for word in words("guesses"))


@pytest.mark.parametrize(
    ("message", "guess"),
    [
        ("[crane]", "crane"),
        ("I think [ CRANE ], or [sloth].", "crane"),
        ("<think>no brackets</think>\n[Crane]", "crane"),
        ("crane", None),
        ("[]", None),
        ("[not this] [crane]", "crane"),
    ],
)
def test_a_guess_is_the_first_word_in_brackets(message: str, guess: str | None) -> None:
    assert wordle.guess_in(message) == guess


def test_a_game_is_rules_guesses_and_marks() -> None:
    env = TextArenaEnvironment()
    first = env.reset(seed=7)
    assert (first.reward, first.done, first.legal_players) == (0.0, False, [0])
    assert [message.category for message in first.messages] == ["PROMPT"]
    assert first.prompt == first.text == first.messages[0].content
    assert "6 guesses" in first.prompt
    seen = say(env, "I begin with [crane].")
    assert seen.prompt == first.prompt
    assert [(told.sender_id, told.category) for told in seen.messages] == [
        (-1, "PROMPT"),
        (0, "PLAYER_ACTION"),
        (-1, "GAME_MESSAGE"),
    ]
    marks = wordle.marks("crane", secret_of(7))
    assert f"Feedback:\nC R A N E\n{' '.join(marks)}\n" in seen.messages[-1].content
    assert seen.text.startswith(f"{first.prompt}\n[Player 0] I begin with [crane].\n[GAME] You")
    assert env.state.raw_state["guesses"] == [["crane", marks]]
    assert (env.state.turn, env.state.step_count) == (1, 1)


def test_the_secret_wins() -> None:
    env = TextArenaEnvironment()
    env.reset(seed=3)
    assert say(env, "[crane]").reward == 0.0
    seen = say(env, f"It must be [{secret_of(3).upper()}]!")
    assert (seen.reward, seen.done, seen.legal_players) == (1.0, True, [])
    assert "G G G G G" in seen.messages[-1].content
    assert seen.info["reward_signals"]["wordle.correct"] == 1.0


def test_a_lost_game_pays_what_the_last_guess_has_found() -> None:
    env = TextArenaEnvironment()
    env.reset(seed=5)
    made = guesses(6)
    rewards = [say(env, f"[{guess}]").reward for guess in made]
    given = wordle.marks(made[-1], secret_of(5))
    assert rewards[:5] == [0.0] * 5
    assert rewards[5] == (given.count("G") + given.count("Y") / 2) / 5
    assert env.state.raw_state["done"]


@pytest.mark.parametrize(
    "message", ["", "crane", "[cranes]", "[zzzzz]", "[sloth]", "[naïve]", "[\0]"]
)
def test_a_guess_that_is_none_changes_nothing(message: str) -> None:
    env = TextArenaEnvironment()
    env.reset(seed=7)
    before = say(env, "[sloth]")
    state = env.state.model_copy(deep=True)
    seen = say(env, message)
    assert seen.metadata["error"]
    assert (seen.reward, seen.done) == (0.0, False)
    varies = {"metadata", "text"}
    assert seen.model_dump(exclude=varies) == before.model_dump(exclude=varies)
    assert seen.text == f"Refused: {seen.metadata['error']}\n{before.text}"
    assert env.state == state.model_copy(update={"step_count": 2})


def test_refused_guesses_are_turns_of_a_limit() -> None:
    env = TextArenaEnvironment()
    env.reset(seed=1, max_turns=3)
    ends = [say(env, message) for message in ("[zzzzz]", "[crane]", "nothing")]
    assert [seen.done for seen in ends] == [False, False, True]
    assert (ends[-1].truncated, ends[-1].reward, env.state.raw_state["done"]) == (True, 0.0, True)
    after = say(env, "[sloth]")
    assert after.text.startswith("Refused: the game is over")
    assert (env.state.step_count, env.state.turn) == (3, 1)


def test_no_episode_is_endless() -> None:
    env = TextArenaEnvironment()
    env.reset(seed=1)
    ends = [say(env, "nothing").done for _ in range(100)]
    assert ends == [False] * 99 + [True]
    assert not env.reset(seed=1).done


def test_signals_tell_how_good_a_guess_was() -> None:
    env = TextArenaEnvironment()
    env.reset(seed=7)
    secret = secret_of(7)
    for guess in guesses(3):
        seen = say(env, f"[{guess}]")
        given = wordle.marks(guess, secret)
        assert (
            seen.info["reward_signals"]
            == seen.metadata["reward_signals"]
            == {
                "wordle.greens": given.count("G") / 5,
                "wordle.yellows": given.count("Y") / 5,
                "wordle.repetitions": 1.0,
                "wordle.correct": 0.0,
            }
        )
    for guess, repetitions in ((guesses(3)[0], 0.0), ("zzzzz", 1.0)) * 2:
        again = say(env, f"[{guess}]")
        assert again.metadata["reward_signals"]["wordle.repetitions"] == repetitions
        assert again.metadata["reward_signals"]["wordle.greens"] == 0.0


def test_providers_are_there_for_wordle_alone() -> None:
    (provider,) = build_reward_providers("Wordle-v0")
    prompt = TextArenaObservation(prompt="")
    same = TextArenaAction(message="[crane]")
    values = [provider.compute(action=same, observation=prompt)["wordle.repetitions"] for _ in "ab"]
    provider.reset()
    values.append(provider.compute(action=same, observation=prompt)["wordle.repetitions"])
    assert values == [1.0, 0.0, 1.0]
    assert build_reward_providers("TicTacToe-v0") == []


@pytest.mark.parametrize(("marks", "greens"), [("G G G G G X X", 5 / 7), ("G G G G G G G", 1.0)])
def test_signals_of_a_longer_word_are_shares_of_its_letters(marks: str, greens: float) -> None:
    (provider,) = build_reward_providers("Wordle-v0-long")
    told = TextArenaMessage(
        sender_id=-1, content=f"Feedback:\nA N A L Y S T\n{marks}\n", category="GAME_MESSAGE"
    )
    signals = provider.compute(
        action=TextArenaAction(message="[analyst]"),
        observation=TextArenaObservation(prompt="", messages=[told]),
    )
    assert (signals["wordle.greens"], signals["wordle.correct"]) == (greens, float(greens == 1))


def test_what_is_done_to_an_observation_changes_no_game() -> None:
    env = TextArenaEnvironment()
    env.reset(seed=7)
    seen = say(env, "[crane]")
    seen.messages[0].content = "other rules"
    seen.info["reward_signals"].clear()
    seen.metadata["reward_signals"]["wordle.greens"] = 5
    state, after = env.state.last_info, say(env, "")
    assert after.prompt == after.messages[0].content != "other rules"
    assert state["reward_signals"]["wordle.greens"] <= 1


def test_the_secret_is_nowhere_before_the_end() -> None:
    for seed in range(20):
        env, secret = TextArenaEnvironment(), secret_of(seed)
        assert secret not in env.reset(seed=seed).prompt
        seen = env.reset(seed=seed)
        for guess in guesses(5, seed):
            seen = say(env, f"[{guess}]")
            assert not seen.done
            everything = seen.model_dump_json() + env.state.model_dump_json()
            everything += view_of(env, seen).words
            assert not re.search(rf"(?<![a-z_]){secret}(?![a-z_])", everything.lower())


def test_a_seed_settles_a_game_and_those_that_follow() -> None:
    def secrets() -> list[int]:
        env = TextArenaEnvironment()
        return [env.reset(seed=seed).metadata["seed"] for seed in (4, None, None, 5)]

    assert secrets() == secrets()
    assert len({secret_of(seed) for seed in range(30)}) > 25
    assert secret_of(4) == secret_of(4)


def test_what_is_over_stays_over() -> None:
    env = TextArenaEnvironment(env_kwargs={"num_guesses": 1})
    env.reset(seed=1)
    end = say(env, "[crane]")
    after = say(env, "[sloth]")
    assert (after.done, after.reward) == (True, 0.0)
    assert "reset()" in after.metadata["error"]
    assert after.messages == end.messages
    assert env.state.step_count == 1


def test_a_step_before_the_first_game_is_refused() -> None:
    env = TextArenaEnvironment()
    with pytest.raises(errors.ResetRequired):
        say(env, "[crane]")
    assert env.state.env_id == "Wordle-v0"


def test_turns_may_be_fewer() -> None:
    env = TextArenaEnvironment()
    env.reset(seed=1, max_turns=2)
    assert not say(env, "[crane]").done
    seen = say(env, "[sloth]")
    assert (seen.done, seen.truncated, seen.legal_players) == (True, True, [])
    assert env.state.max_turns == 2


def test_parameters_are_those_of_wordle() -> None:
    env = TextArenaEnvironment(env_kwargs={"num_guesses": 20, "hardcore": True})
    assert "20 guesses" in env.reset(seed=1).prompt
    assert "3 guesses" in env.reset(seed=1, env_kwargs={"num_guesses": 3}).prompt
    for wrong in ({"num_guesses": 21}, {"num_guesses": True}, {"word_length": 4}, {"letters": 5}):
        with pytest.raises(InvalidRequest, match="env_kwargs of Wordle"):
            env.reset(env_kwargs=wrong)


def test_options_come_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTARENA_MAX_TURNS", "3")
    monkeypatch.setenv("TEXTARENA_ENV_KWARGS", '{"num_guesses": 9}')
    env = TextArenaEnvironment()
    assert "9 guesses" in env.reset().prompt
    assert env.state.max_turns == 3


def test_a_page_shows_the_guesses_and_what_is_known_of_letters() -> None:
    env = TextArenaEnvironment()
    begun = view_of(env, env.reset(seed=1))
    assert begun.labels == ["no guess yet", "What is known of letters: nothing yet"]
    shown = view_of(env, say(env, "[crane]"))
    given = wordle.marks("crane", secret_of(1))
    meaning = {"G": "right", "Y": "elsewhere", "X": "absent"}
    told = [f"{letter} {meaning[mark]}" for letter, mark in zip("crane", given, strict=True)]
    assert shown.labels == [
        f"Row 1: {', '.join(told)}.",
        f"What is known of letters: {', '.join(sorted(told))}",
    ]
    assert "You guessed [crane]." in shown.words
