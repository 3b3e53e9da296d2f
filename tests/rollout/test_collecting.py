"""Collecting: sessions at once, what goes wrong in one episode, and going on after a stop."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from openenv import ConfigurationError, ConnectFailed, SessionCapacityError
from openenv.rollout import (
    Act,
    Collected,
    EnvironmentSpec,
    Policy,
    PolicyHangs,
    RandomPolicy,
    ScriptedPolicy,
    Trajectory,
    collect,
    collect_async,
    load_trajectories,
)
from openenv.rollout.policies.calls import PolicyCalls, PolicyThread
from tests.rollout.halls import halls, walk
from tests.rollout.players import BySeed
from tests.serving import Served, eventually

SUFFIXES = [".jsonl", ".parquet"]


@pytest.fixture(scope="module")
def hall() -> Iterator[tuple[Served, str]]:
    with halls() as served:
        yield served


@pytest.fixture
def url(hall: tuple[Served, str]) -> Iterator[str]:
    """The address of halls, in which no session is left."""
    yield hall[1]
    eventually(lambda: hall[0].openenv.active_sessions == 0)


def by_name(collected: Collected) -> dict[str, Trajectory]:
    return {each.episode_id: each for each in collected}


def test_an_episode_has_all_that_is_needed_to_play_it_again(url: str) -> None:
    collected = collect(url, walk("left", "end"), seeds=[7, 7, 9], options={"careless": False})
    assert (len(collected), collected.steps, dict(collected.ends)) == (3, 6, {"terminated": 3})
    assert collected.steps_per_s > 0
    first, second, third = (by_name(collected)[f"ep-00000{number}"] for number in range(3))
    assert (first.seed, first.policy, first.options) == (7, "act", {"careless": False})
    assert first.environment["name"] == "Hall"
    assert first.reset is not None
    assert second.reset is not None
    assert first.reset.observation == second.reset.observation
    assert first.steps[-1].observation["walked"] == ["left", "end"]
    assert [step.reward for step in first.steps] == [1.0, 2.0]
    assert all(step.latency_ms > 0 for step in first.steps)
    assert first.total_reward == 3.0
    assert third.steps[0].observation["number"] != first.steps[0].observation["number"]


@pytest.mark.expects_error_log
def test_the_ends_of_episodes(url: str) -> None:
    words = {0: ["end"], 1: ["cut"], 2: ["left"], 3: ["left"] * 9, 4: ["raise"], 5: ["nan"]}
    collected = collect(
        url, BySeed(lambda seed: walk(*words[seed])), episodes=6, max_steps=4, sessions=3
    )
    ends = [each.end for _, each in sorted(by_name(collected).items())]
    assert ends == ["terminated", "truncated", "limit", "limit", "error", "limit"]
    told = by_name(collected)
    assert len(told["ep-000003"]) == 4
    assert told["ep-000005"].total_reward is None
    assert (told["ep-000005"].steps[0].reward_error or {})["error"] == "ValueError"
    error = told["ep-000004"].error or {}
    assert (error["type"], error["code"]) == ("EnvironmentFailed", "EXECUTION_ERROR")
    assert "the floor gave way" in error["message"]
    assert dict(collected.errors) == {"EnvironmentFailed": 1}
    assert collected.mean_reward == (1 + 1 + 1 + 10) / 4


def test_random_episodes_are_those_of_their_seed(url: str) -> None:
    played = []
    for sessions in (1, 5):
        collected = collect(url, RandomPolicy(), episodes=6, sessions=sessions, max_steps=5)
        played.append({each.seed: [step.action for step in each.steps] for each in collected})
    assert played[0] == played[1]
    assert len({json.dumps(actions) for actions in played[0].values()}) > 1


class Wild(Policy):
    """Does what its seed says."""

    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        if seed == 0:
            raise LookupError("no such episode")
        choices: dict[int, Any] = {1: "left", 2: [1], 3: {"word": object()}, 4: {"wort": "left"}}

        def act(result: Any) -> Any:
            if seed == 5:
                raise StopIteration
            if seed == 6:
                raise SystemExit(3)
            if seed == 7:
                raise asyncio.CancelledError
            if seed == 8:
                raise KeyboardInterrupt
            return choices[seed]

        return act


class WildLater(Wild):
    """The same, awaited."""

    blocks = False

    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        act = super().episode(seed, spec)

        async def later(result: Any) -> Any:
            await asyncio.sleep(0)
            if seed >= 5:
                raise [ValueError, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit][
                    seed % 4
                ]
            return act(result)

        return later


@pytest.mark.parametrize("policy", [Wild(), WildLater()], ids=["blocking", "awaited"])
def test_a_policy_that_raises_or_talks_nonsense_fails_its_episode_alone(
    url: str, policy: Policy
) -> None:
    collected = collect(url, policy, episodes=9, sessions=2)
    assert dict(collected.ends) == {"error": 9}
    kinds = {each.seed: (each.error or {})["type"] for each in collected}
    assert Counter(kinds.values())["PolicyFailed"] == 7
    assert kinds[4] == "InvalidRequest"
    assert "LookupError: no such episode" in str(by_name(collected)["ep-000000"].error)


class Endless(Policy):
    """Gives an action that contains itself, or says what no file holds, or breaks when told."""

    def __init__(self, way: str) -> None:
        self._way = way

    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        action: dict[str, Any] = {"word": "end"}
        if self._way == "contains itself":
            action["word"] = action

        class Playing:
            messages = [object()] if self._way == "says an object" else None

            def __call__(self, result: Any) -> Any:
                return action

            def ended(self, result: Any) -> None:
                raise LookupError("too late")

        return Playing()


@pytest.mark.parametrize(
    ("way", "error"),
    [
        ("contains itself", ("PolicyFailed", "contains itself")),
        ("says an object", ("NotPlain", "object")),
        ("breaks when told", ("PolicyFailed", "LookupError: too late")),
    ],
    ids=["endless", "unwritable", "told"],
)
def test_whatever_else_is_wrong_with_a_policy_is_its_episodes(
    url: str, tmp_path: Path, way: str, error: tuple[str, str]
) -> None:
    [episode] = collect(url, Endless(way), episodes=1, output=tmp_path / "episodes.jsonl")
    told = episode.error or {}
    assert told["type"] == error[0]
    assert error[1] in told["message"]


def test_a_policy_has_a_name(url: str) -> None:
    nameless = RandomPolicy()
    nameless.name = ""
    with pytest.raises(ConfigurationError, match="name is a text"):
        collect(url, nameless)


def test_a_policy_that_hangs_is_given_up(url: str) -> None:
    free = threading.Event()

    def make(seed: int) -> Any:
        return (lambda seen: free.wait(60.0)) if seed == 1 else walk("end")

    try:
        collected = collect(url, BySeed(make), episodes=4, sessions=1, policy_timeout_s=2.0)
    finally:
        free.set()
    assert dict(collected.errors) == {"PolicyTimeout": 1}
    assert collected.ends["terminated"] == 3


def test_a_policy_that_never_answers_is_given_up(url: str) -> None:
    async def never(seen: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    collected = collect(url, never, episodes=3, policy_timeout_s=0.05)
    assert dict(collected.errors) == {"PolicyTimeout": 3}


async def test_a_policy_that_always_hangs_is_called_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("openenv.rollout.policies.calls.MOST_HUNG", 3)
    free = threading.Event()
    calls = PolicyCalls("stuck", 0.01)
    try:
        for kind in ("PolicyTimeout", "PolicyTimeout", "PolicyHangs"):
            with pytest.raises(Exception, match="stuck") as caught:
                await PolicyThread(calls).call(free.wait, 60.0)
            assert type(caught.value).__name__ == kind
    finally:
        free.set()
    while calls.hung:  # it is the threads that end
        await asyncio.sleep(0.01)
    assert issubclass(PolicyHangs, Exception)


def test_what_a_policy_does_to_what_it_was_given_changes_nothing(url: str) -> None:
    action: dict[str, Any] = {}

    async def careless(seen: dict[str, Any]) -> dict[str, Any]:
        action["word"] = ["left", "right", "end"][len(seen["walked"])]
        seen["walked"].append("nonsense")
        return action

    [episode] = collect(url, careless, episodes=1)
    assert [step.action["word"] for step in episode.steps] == ["left", "right", "end"]
    assert episode.steps[-1].observation["walked"] == ["left", "right", "end"]


async def test_it_is_awaited_where_there_is_a_loop(url: str) -> None:
    collected = await collect_async(url, walk("end"), episodes=2)
    assert dict(collected.ends) == {"terminated": 2}
    again = collect(url, walk("end"), episodes=1)  # as in a notebook
    assert len(again) == 1


async def test_a_run_that_is_cancelled_leaves_no_session(url: str, tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def never(seen: dict[str, Any]) -> None:
        begun.set()
        await asyncio.Event().wait()

    work = asyncio.ensure_future(
        collect_async(url, never, episodes=20, output=tmp_path / "some.jsonl")
    )
    await begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert (await collect_async(url, walk("end"), episodes=1)).ends["terminated"] == 1


def test_where_there_is_room_for_fewer_sessions_fewer_play() -> None:
    with halls(max_concurrent_envs=2) as (served, url):
        collected = collect(url, walk("left", "end"), episodes=12, sessions=8)
        assert dict(collected.ends) == {"terminated": 12}
        with served.socket() as one, served.socket() as other:
            one.reset()
            other.reset()
            with pytest.raises(SessionCapacityError):
                collect(url, walk("end"), episodes=2, reconnect_s=0.1)
            waiting = ThreadPoolExecutor(1).submit(collect, url, walk("end"), episodes=2)
        assert waiting.result().ends["terminated"] == 2


def test_nobody_there_and_nothing_to_play(url: str) -> None:
    with pytest.raises(ConnectFailed):
        collect("http://127.0.0.1:9", walk("end"))
    assert len(collect(url, walk("end"), seeds=[])) == 0
    for wrong in ({"episodes": 0}, {"sessions": 0}, {"max_steps": -1}, {"seeds": [-1]}):
        with pytest.raises(ConfigurationError):
            collect(url, walk("end"), **wrong)
    with pytest.raises(ConfigurationError, match="a function of an observation"):
        collect(url, "random")  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.expects_error_log
def test_what_is_there_is_not_played_again_and_what_failed_is(
    url: str, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"some{suffix}"
    words = {1: "raise"}

    def played(episodes: int) -> Collected:
        def make(seed: int) -> Any:
            return walk(words.get(seed, "end"))

        return collect(url, BySeed(make), episodes=episodes, output=path)

    first = played(3)
    assert (len(first), first.skipped) == (3, 0)
    assert sorted(each.end for each in first) == ["error", "terminated", "terminated"]
    assert [each.end for each in load_trajectories(path)] == ["terminated"] * 2
    words.clear()
    again = played(5)
    assert (len(again), again.skipped, again.ends["terminated"]) == (3, 2, 3)
    assert {each.seed for each in again} == set(range(5))
    assert len(played(5)) == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seeds": [5]}, "whose seed is 0, not 5"),
        ({"options": {"careless": True}}, "whose options is"),
        ({"policy": ScriptedPolicy(walk("end"), name="other")}, "whose policy is 'act', not"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_other_episodes_are_not_mixed(
    url: str, tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    path = tmp_path / "some.jsonl"
    collect(url, walk("end"), seeds=[0], output=path)
    before = path.read_bytes()
    other = {"policy": walk("end"), "seeds": [0], **change}
    with pytest.raises(ConfigurationError, match=told):
        collect(url, other.pop("policy"), **other, output=path)
    assert path.read_bytes() == before


class Counts:
    """A tracker that counts, until it breaks."""

    def __init__(self, breaks_at: int = 99) -> None:
        self.seen: list[str] = []
        self.closed = 0
        self._breaks_at = breaks_at

    def episode(self, trajectory: Trajectory) -> None:
        self.seen.append(trajectory.end)
        if len(self.seen) == self._breaks_at:
            raise OSError("the disk is full")

    def close(self) -> None:
        self.closed += 1


def test_trackers_are_told_and_one_that_breaks_breaks_nothing(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    whole, broken = Counts(), Counts(breaks_at=2)
    collected = collect(url, walk("end"), episodes=5, trackers=[broken, whole])
    assert len(collected) == 5
    assert (len(whole.seen), whole.closed) == (5, 1)
    assert (len(broken.seen), broken.closed) == (2, 1)
    assert "the disk is full" in caplog.text


class Unready(Counts):
    """Breaks at once."""

    def begin(self, total: int, collected: Collected) -> None:
        raise OSError("the screen is gone")


def test_a_progress_that_cannot_begin_ends_no_run(url: str) -> None:
    progress = Unready()
    assert len(collect(url, walk("end"), episodes=2, progress=progress)) == 2
    assert (progress.seen, progress.closed) == ([], 1)


def test_an_output_that_cannot_be_written_ends_the_run(url: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        collect(url, walk("end"), output=tmp_path / "file/some.jsonl")
