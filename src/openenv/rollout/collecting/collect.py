"""Collecting: many episodes of a policy, several at a time, as trajectories."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from openenv.protocol.errors import ConfigurationError, Json
from openenv.rollout.arguments import whole
from openenv.rollout.background import blocking
from openenv.rollout.collecting.collected import Collected
from openenv.rollout.collecting.crew import Terms
from openenv.rollout.collecting.episodes import Episode
from openenv.rollout.collecting.run import Progress, Run, Tracker
from openenv.rollout.collecting.trajectories_file import TrajectoriesFile
from openenv.rollout.policies.environment_spec import environment_spec
from openenv.rollout.policies.policy import Policy, as_policy


async def collect_async(  # noqa: PLR0913  # each is a user's to set
    base_url: str,
    policy: Policy | Callable[[Json], Any],
    *,
    episodes: int = 10,
    seeds: Sequence[int] | None = None,
    sessions: int = 8,
    max_steps: int = 1000,
    options: Mapping[str, Any] | None = None,
    output: str | Path | None = None,
    progress: Progress | None = None,
    trackers: Sequence[Tracker] = (),
    policy_timeout_s: float | None = 300.0,
    timeout_s: float | None = None,
    reconnect_s: float = 60.0,
) -> Collected:
    """Plays episodes on a server.

    An episode that fails, by its environment, its policy or its connection, ends as an `error` of
    a type, and the next one is played. With an `output`, episodes that are there are not played
    again, and those that failed are.

    Args:
        base_url: the server's address.
        policy: who plays; a function from an observation to an action, both as plain dicts, is one.
        episodes: how many, with the seeds 0, 1 …, if no seeds are given.
        seeds: one for each episode; a seed may come several times.
        sessions: at most how many are played at the same time; fewer while the server has room
            for fewer. A session plays one episode after the other.
        max_steps: how long an episode may be; one that is cut off so has the end `limit`.
        options: what each reset is given beside the seed and the episode's name.
        output: a `.jsonl` or `.parquet` file that the trajectories are appended to, each when it
            ends; those that failed go to a file beside it. Otherwise all are kept in memory.
        progress: shows how far it has come.
        trackers: told of each trajectory, and closed at the end. One that raises is left out then.
        policy_timeout_s: how long the policy may take for an action; `None` for ever.
        timeout_s: how long a step may take; as long as the server allows by default.
        reconnect_s: how long a server that goes away, or has no room at all, is waited for.

    Raises:
        ConnectFailed: the server does not answer, or went away and did not come back in time.
        SessionCapacityError: it has no room for a session, and gets none in time.
        ConfigurationError: an argument is wrong, no action can be made up for a random policy, or
            the output has other episodes.
        PolicyHangs: too many calls of the policy hang.
        FolderBusy: another run writes to the output.
        OSError: the output cannot be written.
    """
    terms = Terms(
        sessions=whole("sessions", sessions),
        policy_timeout_s=policy_timeout_s,
        timeout_s=timeout_s,
        reconnect_s=reconnect_s,
    )
    limit = whole("max_steps", max_steps)
    plan = planned(_seeds(episodes, seeds), options=options or {}, max_steps=limit)
    listeners = [*trackers, *([] if progress is None else [progress])]
    player = as_policy(policy)
    spec = await asyncio.to_thread(environment_spec, base_url)
    with ExitStack() as stack:
        storage = None
        if output is not None:
            whose = {"environment": spec.identity, "policy": player.name}
            storage = stack.enter_context(closing(TrajectoriesFile(Path(output), whose)))
        return await Run(spec, player, terms, storage, listeners).play(plan)


@blocking(collect_async, "openenv-collect")
def collect() -> None:
    """Plays episodes on a server, and waits for all of them.

    Arguments, result and errors as `collect_async`. It may be called inside an event loop, which
    it then blocks. Ctrl-C ends it, and its sessions; what was written stays.
    """


def planned(
    seeds: Sequence[int], *, options: Mapping[str, Any], max_steps: int, prefix: str = "ep"
) -> list[Episode]:
    """The episodes of these seeds, numbered from 0."""
    return [
        Episode(
            episode_id=f"{prefix}-{number:06d}", seed=seed, options=options, max_steps=max_steps
        )
        for number, seed in enumerate(seeds)
    ]


def _seeds(episodes: int, seeds: Sequence[int] | None) -> Sequence[int]:
    if seeds is None:
        return range(whole("episodes", episodes))
    try:
        given = [operator.index(seed) for seed in seeds]
    except TypeError as error:
        raise ConfigurationError(f"seeds must be whole numbers: {error}") from None
    if min(given, default=0) < 0:
        raise ConfigurationError(f"seeds must be numbers from 0, got {min(given)}")
    return given
