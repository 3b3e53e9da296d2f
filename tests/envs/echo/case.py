"""How an echo is played."""

import random

from tests.envs.case import Case, Json


def policy(seen: Json, chance: random.Random) -> Json:
    """A message of any length."""
    return {"message": "echo " * chance.randrange(5)}


CASE = Case(
    package="echo_env",
    environment="echo_env.server.echo_environment:EchoEnvironment",
    client="echo_env:EchoEnv",
    policy=policy,
    invalid=({}, {"message": 1}, {"message": None}, {"message": "hi", "volume": 11}),
    steps=10,
    reward_range=(0.0, 1e6),
    chance=False,
    needs_reset=False,
    text="echoed_message",
)
