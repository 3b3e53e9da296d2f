"""A verifier that fails in a thread of its parent's is no zero."""

import asyncio
import contextvars
import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any

import pytest

from openenv import local
from openenv.rubrics import Gate, Rubric, RubricList, Score
from tests.rubrics.scorers import Fixed, Raising
from tests.rubrics.worlds import Delayed, PeerAwaiting, Tried, Try


class Pooling(Rubric):
    """Calls its children in threads, and takes the best."""

    def __init__(self, *children: Rubric) -> None:
        self.all = RubricList(children)

    def forward(self, action: Any, observation: Any) -> float:
        """The best, or 0."""
        with ThreadPoolExecutor(2) as pool:
            scores = pool.map(lambda each: float(each(action, observation)), self.all)
            return max(0.0, *scores)


class Replacing(Pooling):
    """Says what a child without a score is worth."""

    def forward(self, action: Any, observation: Any) -> float:
        """The last one's, or a half."""
        with ThreadPoolExecutor(2) as pool:
            scores = list(pool.map(lambda each: each(action, observation), self.all))
        return [float(score.or_else(0.5)) for score in scores][-1]


class Copying(Pooling):
    """Has its calls known for certain."""

    def forward(self, action: Any, observation: Any) -> float:
        """The first one's, or 0."""
        with ThreadPoolExecutor(1) as pool:
            context = contextvars.copy_context()
            score = pool.submit(context.run, self.all[0], action, observation).result()
            return max(0.0, float(score))


class Failing(Rubric):
    """Fails as often as it is told."""

    def __init__(self, times: int) -> None:
        self.times = times

    def forward(self, action: Any, observation: Any) -> float:
        """1, then."""
        self.times -= 1
        if self.times >= 0:
            raise OSError("not yet")
        return 1.0


class Retrying(Rubric):
    """Asks twice."""

    def __init__(self, child: Rubric) -> None:
        self.child = child

    def forward(self, action: Any, observation: Any) -> float:
        """What it heard last."""
        with ThreadPoolExecutor(1) as pool:
            scores = [pool.submit(self.child, action, observation).result() for _ in range(2)]
            return float(scores[-1])


PARENTS: dict[str, tuple[Callable[[], Rubric], str]] = {
    "first": (lambda: Pooling(Raising(), Fixed(1.0)), "all.rubric_0"),
    "last": (lambda: Pooling(Fixed(1.0), Raising()), "all.rubric_1"),
    "below": (lambda: Pooling(Gate(Raising()), Fixed(1.0)), "all.rubric_0.rubric"),
    "threads of threads": (lambda: Pooling(Pooling(Raising(), Fixed()), Fixed()), "all.rubric_0"),
    "in a copy of the context": (lambda: Copying(Raising()), "all.rubric_0"),
    "and then not": (lambda: Retrying(Failing(1)), "child"),
}


@pytest.mark.parametrize("case", PARENTS)
def test_a_failure_in_another_thread_leaves_no_score(case: str) -> None:
    make, path = PARENTS[case]
    score = make()("action", "observation")
    assert not score.valid
    assert score.failure.rubric.startswith(path)


def test_it_is_told_once_and_only_of_the_call_that_it_was_in() -> None:
    rubric = Retrying(Failing(1))
    failed = rubric("action", "observation")
    assert {name: each.valid for name, each in failed.children.items()} == {
        "child": False,
        "child#2": True,
    }
    assert rubric("action", "observation") == 1.0


def test_or_else_keeps_it_off_all_above() -> None:
    assert Replacing(Raising())("action", "observation") == 0.5
    assert Gate(Replacing(Pooling(Raising(), Fixed())), 0.0)("action", "observation") == 0.5


class Leaving(Rubric):
    """Does not wait for a thread."""

    def __init__(self) -> None:
        self.child = Fixed()
        self.began, self.may_end = threading.Event(), threading.Event()
        self.child.register_forward_pre_hook(lambda *_: self.began.set())
        self.child.register_forward_pre_hook(lambda *_: self.may_end.wait())
        self.pool = ThreadPoolExecutor(1)

    def forward(self, action: Any, observation: Any) -> float:
        """0."""
        waiting = self.pool.submit(self.child, action, observation)
        self.began.wait()
        try:
            return float(waiting.result(0.01))
        except NotYet:
            return 0.0


def test_a_thread_that_was_not_waited_for_leaves_none_either() -> None:
    rubric = Leaving()
    score = rubric("action", "observation")
    rubric.may_end.set()
    rubric.pool.shutdown()
    assert (score.failure.rubric, score.failure.error) == ("child", "Unsettled")


def test_copies_and_pickles_have_none_of_it() -> None:
    rubric = Raising()
    rubric("action", "observation")
    for other in (copy.deepcopy(rubric), pickle.loads(pickle.dumps(rubric))):
        assert not other("action", "observation").valid


class InThread(Delayed):
    """Calls its rubric in a thread."""

    def __init__(self) -> None:
        self.rubric = Gate(Raising())

    def step(self, action: Try) -> Tried:
        """Takes no NaN."""
        with ThreadPoolExecutor(1) as pool:
            score: Score = pool.submit(self._apply_rubric, action, None).result()
        return Tried(reward=max(0.0, score), done=True)


class InExecutor(PeerAwaiting):
    """The same, awaiting."""

    def __init__(self) -> None:
        self.rubric = Gate(Raising())

    async def step_async(self, action: Try) -> Tried:
        """Takes no NaN."""
        loop = asyncio.get_running_loop()
        score = await loop.run_in_executor(None, self._apply_rubric, action, None)
        return Tried(reward=max(0.0, score), done=True)


@pytest.mark.parametrize("world", [InThread, InExecutor])
def test_nor_does_an_environments_own_thread_make_a_zero_of_it(world: Any) -> None:
    with local(world) as env:
        env.reset()
        result = env.step(Try())
    assert result.reward is None
    assert result.reward_error is not None
    assert result.reward_error["rubric"] == "rubric"
