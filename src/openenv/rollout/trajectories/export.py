"""Trajectories as rows of data sets: for supervised, preference and group-relative training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from statistics import fmean, stdev
from typing import Any

from openenv.protocol.errors import Json
from openenv.protocol.extras import needs
from openenv.rollout.policies.acting import as_text, seen, to_text
from openenv.rollout.trajectories.trajectory import Trajectory

SMALLEST_STD = 1e-4
"""Is added to a group's standard deviation, as GRPO does, so that nothing is divided by 0."""


def messages(trajectory: Trajectory, action_text: Callable[[Json], str] = to_text) -> list[Json]:
    """An episode as a conversation, which begins with what was seen first.

    Where a language model played, it is the one that it had. Otherwise the user says what is seen
    (its `text`, where it has one) and the assistant what is done. It ends with the last action.

    Args:
        trajectory: which has begun.
        action_text: how an action is said; as JSON by default.
    """
    if trajectory.messages is not None:
        return [dict(message) for message in trajectory.messages]
    if trajectory.reset is None:
        return []
    said = []
    observation = trajectory.reset.observation
    for step in trajectory.steps:
        said.append({"role": "user", "content": as_text(seen(observation))})
        said.append({"role": "assistant", "content": action_text(step.action)})
        observation = step.observation
    return said


def sft_rows(
    trajectories: Iterable[Trajectory],
    *,
    min_reward: float | None = None,
    action_text: Callable[[Json], str] = to_text,
) -> Iterator[Json]:
    """A row for each episode that has a reward and an action: `messages`, and where it is from.

    Args:
        trajectories: of any environments and policies.
        min_reward: episodes with a lower total are left out.
        action_text: as of `messages`.
    """
    for trajectory in trajectories:
        reward = trajectory.total_reward
        if reward is None or not trajectory.steps:
            continue
        if min_reward is None or reward >= min_reward:
            yield {
                "messages": messages(trajectory, action_text),
                "reward": reward,
                **_origin(trajectory),
            }


def preference_rows(
    trajectories: Iterable[Trajectory],
    *,
    margin: float = 0.0,
    action_text: Callable[[Json], str] = to_text,
) -> Iterator[Json]:
    """A row for each seed of which one episode is better than another: the best and the worst.

    `prompt` is what both saw first, `chosen` and `rejected` are how they went on. Pairs are of the
    same environment, version and options. Episodes without a reward are in none.

    Args:
        trajectories: several of each seed, of one policy or of different ones.
        margin: by how much more than this the rewards must differ.
        action_text: as of `messages`.
    """
    for group in _groups(trajectories):
        scored = [each for each in group if each.total_reward is not None and each.steps]
        if len(scored) < 2:
            continue
        best, worst = max(scored, key=_reward), min(scored, key=_reward)
        chosen, rejected = (messages(each, action_text) for each in (best, worst))
        if _reward(best) - _reward(worst) > margin and chosen[:1] == rejected[:1]:
            yield {
                "prompt": chosen[:1],
                "chosen": chosen[1:],
                "rejected": rejected[1:],
                "chosen_reward": _reward(best),
                "rejected_reward": _reward(worst),
                **_shared(best),
            }


def grpo_groups(
    trajectories: Iterable[Trajectory],
    *,
    action_text: Callable[[Json], str] = to_text,
) -> Iterator[Json]:
    """A row for each seed: its episodes, their rewards, and their advantages over each other.

    `prompt` is what all saw first, `completions` are how they went on. An advantage is the reward
    less the group's mean, divided by its standard deviation (of a sample, plus `SMALLEST_STD`). A
    reward that failed is `None`, with an advantage of `None` and a `mask` of false: it is in
    neither mean nor deviation. A group with fewer than two rewards has no advantages at all.

    Args:
        trajectories: several of each seed; those that never began are left out.
        action_text: as of `messages`.
    """
    for group in _groups(trajectories):
        begun = [each for each in group if each.reset is not None]
        if not begun:
            continue
        rewards = [each.total_reward for each in begun]
        advantages = group_advantages(rewards)
        talks = [messages(each, action_text) for each in begun]
        yield {
            "prompt": next((talk[:1] for talk in talks if talk), []),
            "completions": [talk[1:] for talk in talks],
            "rewards": rewards,
            "advantages": advantages,
            "mask": [advantage is not None for advantage in advantages],
            "episode_ids": [each.episode_id for each in begun],
            "policies": [each.policy for each in begun],
            **_shared(begun[0]),
        }


def group_advantages(rewards: Sequence[float | None]) -> list[float | None]:
    """How much better each is than its group, in standard deviations.

    Args:
        rewards: of a group; `None` for one that failed, which gets `None`.
    """
    valid = [reward for reward in rewards if reward is not None]
    if len(valid) < 2:
        return [None] * len(rewards)
    mean, scale = fmean(valid), stdev(valid) + SMALLEST_STD
    return [None if reward is None else (reward - mean) / scale for reward in rewards]


def to_dataset(rows: Iterable[Mapping[str, Any]]) -> Any:
    """The rows as a `datasets.Dataset`.

    Raises:
        MissingPackage: `datasets` is not installed.
    """
    with needs("datasets"):
        datasets = import_module("datasets")
    return datasets.Dataset.from_list([dict(row) for row in rows])


def _groups(trajectories: Iterable[Trajectory]) -> Iterator[list[Trajectory]]:
    """Episodes that began alike, in the order in which each seed came first."""
    groups: dict[str, list[Trajectory]] = {}
    for trajectory in trajectories:
        if trajectory.seed is not None:
            groups.setdefault(to_text(_shared(trajectory)), []).append(trajectory)
    yield from groups.values()


def _shared(trajectory: Trajectory) -> Json:
    """What episodes have in common that began alike; the options as JSON, whatever they hold."""
    return {
        "seed": trajectory.seed,
        "environment": trajectory.environment.get("name"),
        "environment_version": trajectory.environment.get("version"),
        "options": to_text(trajectory.options),
    }


def _origin(trajectory: Trajectory) -> Json:
    own = {"episode_id": trajectory.episode_id, "policy": trajectory.policy}
    return {**own, **_shared(trajectory)}


def _reward(trajectory: Trajectory) -> float:
    reward = trajectory.total_reward
    return float("nan") if reward is None else reward
