"""Replay: the same comes again, and whatever was changed is named at its step."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from openenv import Action, ConnectFailed, Environment, Observation, SessionCapacityError
from openenv.rollout import Trajectory, collect, replay
from openenv.rollout.trajectories.differences import parting
from openenv.rollout.trajectories.replaying import replay_all
from openenv.testing import Counting
from tests.rollout.halls import Hall, halls, recorded, walk
from tests.rollout.players import BySeed
from tests.serving import Served, eventually, serving


@pytest.fixture(scope="module")
def hall() -> Iterator[tuple[Served, str]]:
    with halls() as served:
        yield served


@pytest.fixture
def url(hall: tuple[Served, str]) -> Iterator[str]:
    """The address of halls, in which no session is left."""
    yield hall[1]
    eventually(lambda: hall[0].openenv.active_sessions == 0)


@pytest.fixture(scope="module")
def episode(hall: tuple[Served, str]) -> Trajectory:
    [episode] = collect(hall[1], walk("left", "left", "right", "end"), seeds=[5])
    return episode


@pytest.mark.expects_error_log
def test_what_was_played_is_played_again(url: str) -> None:
    words = [["end"], ["left", "cut"], ["left", "nan"], ["left", "raise"], [], ["right"] * 4]
    collected = collect(url, BySeed(lambda seed: walk(*words[seed])), episodes=6, max_steps=3)
    outcomes = list(replay_all(collected, url, sessions=2))
    assert [trajectory.seed for trajectory, _ in outcomes] == [each.seed for each in collected]
    assert [difference for _, difference in outcomes] == [None] * 6


def changed(episode: Trajectory, number: int, **fields: Any) -> Trajectory:
    """An episode of which one step was changed."""
    steps = list(episode.steps)
    steps[number - 1] = replace(steps[number - 1], **fields)
    return replace(episode, steps=steps)


def test_each_kind_of_change_is_named_at_its_step(episode: Trajectory, url: str) -> None:
    room = episode.steps[1].observation
    began = replace(episode.reset, observation={"number": 0, "walked": []})  # type: ignore[type-var]
    steps = episode.steps
    cases: list[tuple[Trajectory, int, str]] = [
        (changed(episode, 2, reward=7.0), 2, "reward"),
        (changed(episode, 2, reward=None), 2, "reward"),
        (changed(episode, 2, observation={**room, "number": 3}), 2, "observation.number"),
        (changed(episode, 2, observation={**room, "more": 3}), 2, "observation.more"),
        (changed(episode, 2, observation={"number": room["number"]}), 2, "observation.walked"),
        (
            changed(episode, 2, observation={**room, "walked": ["left", 1]}),
            2,
            "observation.walked.1",
        ),
        (changed(episode, 2, action={"word": "right"}), 2, "observation.walked.1"),
        (changed(episode, 2, action={"word": 3}), 2, "error"),
        (changed(episode, 2, terminated=True), 2, "terminated"),
        (changed(episode, 4, truncated=True), 4, "truncated"),
        (changed(episode, 2, metadata={"tree": 1}), 2, "metadata.tree"),
        (replace(episode, reset=began), 0, "observation.number"),
        (replace(episode, seed=6), 0, "observation.number"),
        (replace(episode, steps=steps[:1] + steps[2:]), 2, "observation.number"),
        (replace(episode, steps=steps[:2] + steps[1:]), 3, "observation.number"),
        (replace(episode, steps=steps[:3]), 4, "step"),
        (replace(episode, steps=[*steps, steps[3]]), 5, "step"),
        (replace(episode, end="truncated"), 4, "end"),
        (replace(episode, end="limit"), 4, "end"),
    ]
    for trajectory, step, path in cases:
        difference = replay(trajectory, url)
        assert difference is not None, path
        assert (difference.step, difference.path, difference.is_random) == (step, path, False)
        place = f"{episode.episode_id}, {f'step {step}' if step else 'the reset'}: {path}"
        assert str(difference).startswith(place)


def test_what_says_when_something_was_is_not_compared(episode: Trajectory, url: str) -> None:
    told = {"started_at": 1.5, "step_time_ms": 3, "deeper": {"duration": 1}, "request_id": "a"}
    other = changed(episode, 2, metadata=told, latency_ms=99.0)
    assert str(replay(other, url)).endswith("metadata.deeper was {}, now None")
    ignored = ["metadata.request_id", "metadata.deeper"]
    assert replay(other, url, ignore=ignored) is None
    late = replace(episode, started_at="2020-01-31T12:00:00+00:00", openenv_version="0")
    assert replay(late, url) is None


def test_an_environment_that_ignores_its_seed_is_told_from_a_changed_trajectory(url: str) -> None:
    [episode] = collect(url, walk("left", "end"), episodes=1, options={"careless": True})
    difference = replay(episode, url)
    assert difference is not None
    assert (difference.path, difference.is_random) == ("observation.number", True)
    assert "the environment ignores its seed" in str(difference)


def test_an_environment_that_carries_something_over_a_reset_is_found() -> None:
    with serving(Counting) as served:
        address = f"http://127.0.0.1:{served.port}"
        collected = collect(
            address, lambda seen: {"amount": 1, "last": True}, episodes=2, sessions=1
        )
        outcomes = [difference for _, difference in replay_all(collected, address)]
    assert outcomes[0] is None
    assert outcomes[1] is not None
    assert (outcomes[1].path, outcomes[1].is_random) == ("observation.resets", False)


def test_where_there_is_room_for_fewer_fewer_are_replayed_at_once() -> None:
    with halls(max_concurrent_envs=2) as (served, url):
        collected = collect(url, walk("left", "end"), episodes=9)
        outcomes = list(replay_all(collected, url, sessions=8))
        assert [difference for _, difference in outcomes] == [None] * 9
        with served.socket() as one, served.socket() as other:
            one.reset()
            other.reset()
            with pytest.raises(SessionCapacityError):
                list(replay_all(collected, url, sessions=8))


def test_episodes_that_never_began_and_servers_that_are_not_there(url: str) -> None:
    why = {"type": "EnvironmentFailed", "code": None, "message": "no"}
    failed = recorded(steps=[], reset=None, end="error", error=why)
    assert replay(failed, "http://127.0.0.1:9") is None
    with pytest.raises(ConnectFailed):
        replay(recorded(), "http://127.0.0.1:9")
    with serving(Hall, max_concurrent_envs=1) as served, served.socket() as other:
        other.reset()
        with pytest.raises(SessionCapacityError):
            replay(recorded(), f"http://127.0.0.1:{served.port}")


class Look(Action):
    pass


class Frame(Observation):
    frame: Any


class Screen(Environment[Look, Frame]):
    def reset(self, seed: int | None = None, **options: Any) -> Frame:
        self._chance = np.random.default_rng(seed)
        return self._frame()

    def step(self, action: Look) -> Frame:
        return self._frame()

    def _frame(self) -> Frame:
        return Frame(frame=self._chance.integers(0, 9, (30, 20, 3), "uint8"), reward=0.0)


def test_frames_are_replayed_to_the_byte() -> None:
    with serving(Screen) as served:
        address = f"http://127.0.0.1:{served.port}"
        [episode] = collect(address, lambda seen: {}, episodes=1, max_steps=3)
        again = Trajectory.from_dict(episode.to_dict())
        assert replay(again, address) is None
        frame = again.steps[1].observation["frame"]
        frame[3, 4, 2] ^= 1
        difference = replay(again, address)
    assert difference is not None
    assert (difference.step, difference.path) == (2, "observation.frame")


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        (1, 1.0, None),
        (1, True, ""),
        (float("nan"), float("nan"), None),
        (b"a", "a", ""),
        ([1, 2], [1], ""),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a.1.b"),
        ({"a": None}, {}, "a"),
        (np.zeros(2, "f4"), np.zeros(2, "f8"), ""),
        (np.zeros(2, "f4"), -np.zeros(2, "f4"), ""),
        (np.zeros((1, 2)), [[0.0, 0.0]], None),
        (np.zeros((1, 2)), [[0.0]], ""),
        (np.zeros(2), "a", ""),
    ],
    ids=str,
)
def test_where_values_part(one: Any, other: Any, path: str | None) -> None:
    found = parting(one, other)
    assert (None if found is None else found.path) == path
