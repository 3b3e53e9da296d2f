"""How Wordle is played."""

import random

from tests.envs.case import Case, Json

WORDS = ("crane", "sloth", "build", "money", "piano", "angry", "chief", "dusty", "level", "waved")


def policy(seen: Json, chance: random.Random) -> Json:
    """A word that was not guessed yet."""
    said = " ".join(message["content"] for message in seen["messages"])
    left = [word for word in WORDS if f"guessed [{word}]" not in said]
    return {"message": f"I guess [{chance.choice(left)}]."}


CASE = Case(
    package="textarena_env",
    environment="textarena_env.server.textarena_environment:TextArenaEnvironment",
    client="textarena_env:TextArenaEnv",
    policy=policy,
    illegal=(
        {"message": ""},
        {"message": "crane"},
        {"message": "[cranes]"},
        {"message": "[zzzzz]"},
        {"message": "[]"},
        {"message": "\0[\0]"},
        {"message": "[" * 20_000},
        {"message": "[" + "a" * 19_000 + "]"},
    ),
    invalid=(
        {},
        {"message": None},
        {"message": 5},
        {"message": ["[crane]"]},
        {"message": "[crane]" * 20_000},
        {"message": "[crane]", "guess": "crane"},
    ),
    bad_resets=(
        {"num_players": 2},
        {"num_players": 0},
        {"max_turns": 0},
        {"env_id": "w" * 1000},
        {"env_kwargs": {"num_guesses": 0}},
        {"env_kwargs": {"num_guesses": 10**9}},
        {"env_kwargs": {"word_length": 6}},
        {"env_kwargs": {"secret": "crane"}},
        {"engine": "nltk"},
        {"word": "crane"},
    ),
    reward_range=(0.0, 1.0),
)
