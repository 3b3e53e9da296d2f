"""Episodes of an environment, and what is the same when they are played again.

`python -m tests.envs.playing PACKAGE SEED...` prints the digest of an episode of each seed.
"""

import base64
import hashlib
import json
import random
import re
import sys
from collections.abc import Iterator
from typing import Any

from openenv import GenericEnvClient, SyncEnvClient, local
from openenv.client.results import StepResult
from tests.envs.case import Case, Json, case_of

Player = SyncEnvClient[Any, Json, Json]


def player(case: Case) -> Player:
    """A client of an environment in this process."""
    return local(case.environment_class, client_class=GenericEnvClient).sync()


def seen(result: StepResult[Json]) -> Json:
    """An observation as JSON with its reward, its end and its metadata."""
    plain: Json = json.loads(json.dumps(result.observation, default=_plain))
    ended = {"reward": result.reward, "done": result.done, "truncated": result.truncated}
    return {**plain, **ended, "metadata": result.metadata or {}}


def _plain(value: Any) -> Any:
    """What MessagePack has as it is, as JSON has it."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value.tolist()


def outcome(observation: Json) -> Json:
    """What has to be the same again: all but metadata, in which times and ids may be."""
    return {name: value for name, value in observation.items() if name != "metadata"}


def still(observation: Json) -> Json:
    """What must not change while nothing moves; `text` may begin with why it does not."""
    known = outcome({**observation, "reward": None})
    if isinstance(known.get("text"), str):
        known["text"] = re.sub(r"\ARefused: .*\n", "", known["text"])
    return known


def begin(client: Player, case: Case, **options: Any) -> Json:
    """Begins an episode; the first observation."""
    return seen(client.reset(**{**case.reset, **options}))


def turns(client: Player, case: Case, seed: int, steps: int) -> Iterator[tuple[Json, Json]]:
    """Plays an episode: each action that is taken and what is seen then."""
    chance = random.Random(f"a player of {seed}")
    observation = begin(client, case, seed=seed)
    yield {}, observation
    for _ in range(steps):
        if observation["done"]:
            return
        action = case.policy(observation, chance)
        observation = seen(client.step(action))
        yield action, observation


def episode(client: Player, case: Case, seed: int, steps: int) -> list[Json]:
    """What is seen in an episode."""
    return [outcome(observation) for _, observation in turns(client, case, seed, steps)]


def digest(episode: list[Json]) -> str:
    """A few letters that are the same for the same episode alone."""
    return hashlib.sha256(json.dumps(episode, sort_keys=True).encode()).hexdigest()


def digests(case: Case, seeds: list[int]) -> list[str]:
    """The digests of episodes, one after another in one session."""
    with player(case) as client:
        return [digest(episode(client, case, seed, case.steps)) for seed in seeds]


def main(package: str, *seeds: str) -> None:
    """Prints digests, a line each."""
    for line in digests(case_of(package), list(map(int, seeds))):
        print(line)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
