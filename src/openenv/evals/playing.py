"""Evaluating: policies play the same episodes, and what they achieve is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from openenv._version import __version__
from openenv.evals.evaluation import Evaluation, distinct
from openenv.evals.outcomes import EpisodeOutcome, Success, said_success, success_rule
from openenv.evals.scorecard import Scorecard
from openenv.protocol.errors import ConfigurationError, Json
from openenv.rollout.collecting.collect import collect, planned
from openenv.rollout.collecting.collected import Collected
from openenv.rollout.collecting.run import Progress, Tracker
from openenv.rollout.policies.environment_spec import EnvironmentSpec, environment_spec
from openenv.rollout.policies.policy import Policy, as_policy

Player: TypeAlias = Policy | Callable[[Json], Any]
DEFAULT_EPISODES = 100
MOST_EPISODES = 1_000_000
PLAN = "evaluation.json"
"""Where a folder says what its trajectories are of."""
_SAFE = re.compile(r"[^\w.-]+")


def evaluate(  # noqa: PLR0913  # each is a user's to set
    base_url: str,
    policies: Player | Sequence[Player],
    *,
    episodes: int | None = None,
    seeds: Sequence[int] | None = None,
    sessions: int = 8,
    max_steps: int = 1000,
    options: Mapping[str, Any] | None = None,
    success: str | Success | None = None,
    folder: str | Path | None = None,
    progress: Callable[[str], Progress] | None = None,
    tracker: Callable[[str], Tracker] | None = None,
) -> Evaluation:
    """Has several policies play the same seeds of an environment.

    Args:
        base_url: the server's address.
        policies: who plays; a function from an observation to an action, both as plain dicts, is
            one.
        episodes: how many each policy plays, with the seeds 0, 1 … (100); where seeds are given,
            how many of each of them (1).
        seeds: the seeds of the episodes.
        sessions: how many episodes are played at the same time.
        max_steps: how long an episode may be.
        options: what each reset is given beside the seed and the episode's name.
        success: what makes an episode a success: a rule, as of `success_rule`, or a function of a
            trajectory; by default what the environment says, as of `said_success`.
        folder: where the trajectories are kept, a folder for each policy. What is there already is
            not played again, so that an evaluation that was cut off can be resumed, or grow.
        progress: makes what shows how far a policy has come, by the policy's name.
        tracker: makes what is told of each trajectory of a policy, by the policy's name.

    Raises:
        ConfigurationError: there is no policy, no episode, or more than `MOST_EPISODES`;
            two policies have the same name; or the folder is another evaluation's.
        ConnectFailed: the server does not answer, or went away and did not come back in time.
    """
    players = [as_policy(player) for player in _listed(policies)]
    distinct([player.name for player in players])
    judge, planned_seeds = _judge(success), _plan(episodes, seeds)
    evaluation = replace(
        _begun(environment_spec(base_url)),
        seeds=planned_seeds,
        options=dict(options or {}),
        max_steps=max_steps,
        success=_rule_in_words(success),
    )
    kept = _folders(folder, evaluation, [player.name for player in players])
    played = partial(
        collect,
        base_url,
        seeds=evaluation.seeds,
        sessions=sessions,
        max_steps=max_steps,
        options=evaluation.options,
    )
    cards = []
    for player in players:
        told = [made(player.name) for made in (tracker, progress) if made is not None]
        collected = played(player, output=kept.get(player.name), trackers=told)
        cards.append(_card(player.name, collected, evaluation, judge))
    return replace(evaluation, policies=cards)


def _begun(spec: EnvironmentSpec) -> Evaluation:
    """An evaluation of this environment, which begins now."""
    return Evaluation(
        environment=spec.identity,
        openenv_version=__version__,
        started_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        seeds=(),
    )


def _card(name: str, collected: Collected, evaluation: Evaluation, judge: Success) -> Scorecard:
    """What a policy achieved in the evaluation's episodes, of all that there are in its folder."""
    plan = planned(evaluation.seeds, options={}, max_steps=evaluation.max_steps)
    wanted = {episode.episode_id for episode in plan}
    outcomes = [
        EpisodeOutcome.of(trajectory, judge)
        for trajectory in collected
        if trajectory.episode_id in wanted
    ]
    outcomes.sort(key=lambda outcome: outcome.episode_id)
    return Scorecard(name, outcomes, round(collected.seconds, 3))


def _listed(policies: Player | Sequence[Player]) -> list[Player]:
    if isinstance(policies, Sequence):
        return list(policies)
    return [policies]


def _plan(episodes: int | None, seeds: Sequence[int] | None) -> list[int]:
    """The seed of each episode.

    Raises:
        ConfigurationError: there is no episode, or there are too many.
    """
    counted = range(DEFAULT_EPISODES if episodes is None else episodes) if seeds is None else seeds
    times = 1 if seeds is None or episodes is None else episodes
    if not 0 < len(counted) * times <= MOST_EPISODES:
        raise ConfigurationError(
            f"a policy plays from 1 to {MOST_EPISODES} episodes, got episodes={episodes} and "
            f"{'no' if seeds is None else len(seeds)} seeds"
        )
    return [seed for seed in counted for _ in range(times)]


def _judge(success: str | Success | None) -> Success:
    if success is None:
        return said_success
    return success_rule(success) if isinstance(success, str) else success


def _rule_in_words(success: str | Success | None) -> str:
    if success is None:
        return "as the environment says"
    return success if isinstance(success, str) else getattr(success, "__name__", "a function")


def _folders(
    folder: str | Path | None, evaluation: Evaluation, names: Sequence[str]
) -> dict[str, Path]:
    """Where each policy's trajectories are kept.

    Raises:
        ConfigurationError: what the folder has is of another evaluation.
    """
    if folder is None:
        return {}
    folder = Path(folder)
    plan = json.dumps(_conditions(evaluation), indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    described = folder / PLAN
    if described.exists() and described.read_text(encoding="utf-8") != plan:
        raise ConfigurationError(
            f"{folder} has episodes of another evaluation, as its {PLAN} says: other "
            "options, max_steps or another environment or version; give another folder"
        )
    described.write_text(plan, encoding="utf-8")
    places = {name: folder_name(name) for name in names}
    distinct(list(places.values()))
    return {name: folder / place / "trajectories.jsonl" for name, place in places.items()}


def folder_name(policy: str) -> str:
    """What the folder of a policy is called, by the policy's name."""
    return _SAFE.sub("-", policy).strip("-.") or "policy"


def _conditions(evaluation: Evaluation) -> Json:
    """What has to be the same for episodes to be of the same evaluation."""
    names = ("environment", "options", "max_steps")
    return {name: getattr(evaluation, name) for name in names}
