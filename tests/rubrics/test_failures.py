"""A failed verifier is no zero, whoever asks it, in whichever way."""

import asyncio
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from openenv.rubrics import (
    Gate,
    Rubric,
    RubricDict,
    RubricList,
    Score,
    Sequential,
    TrajectoryRubric,
    WeightedSum,
)
from tests.rubrics.scorers import (
    BROKEN,
    HOLDERS,
    Asking,
    Awaited,
    Ending,
    Fixed,
    Hanging,
    Raising,
    settled,
)


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_rubric_gives_no_score(fault: str, holder: str) -> None:
    broken = BROKEN[fault]()
    hold, path = HOLDERS[holder]
    rubric = hold(broken)
    score = settled(rubric("action", "observation"))
    _is_no_score(score, path or type(broken).__name__)
    assert rubric.last_score is score
    assert not path or rubric.get_rubric(path) is broken


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("fault", BROKEN)
async def test_nor_on_an_event_loop(fault: str, holder: str) -> None:
    hold, path = HOLDERS[holder]
    broken = BROKEN[fault]()
    _is_no_score(await hold(broken)("action", "observation"), path or type(broken).__name__)


def _is_no_score(score: Score, path: str) -> None:
    assert isinstance(score, Score)
    assert not score.valid
    assert math.isnan(score)
    assert score != 0.0
    assert score.failure is not None
    assert score.failure.rubric == path
    assert score.explained()["score"] is None
    assert score.explained()["error"] == score.failure.to_dict()
    assert repr(path) in repr(score)


@pytest.mark.parametrize(
    ("found", "error", "message"),
    [
        (None, "TypeError", "got NoneType; is a `return` missing?"),
        ("0.5", "TypeError", "got str"),
        (math.nan, "ValueError", "a score is a finite number, got nan"),
        (math.inf, "ValueError", "a score is a finite number, got inf"),
    ],
)
def test_the_failure_says_what_was_found(found: Any, error: str, message: str) -> None:
    failure = Gate(Fixed(found))("action", "observation").failure
    assert (failure.path, failure.kind, failure.error) == (("rubric",), "Fixed", error)
    assert message in failure.message


def test_what_is_raised_is_told() -> None:
    failure = Raising()("action", "observation").failure
    assert failure.to_dict() == {
        "rubric": "Raising",
        "error": "RuntimeError",
        "message": "the grader is down",
    }
    assert str(failure) == ("rubric 'Raising' gave no score: RuntimeError: the grader is down")


def test_nothing_runs_after_a_failure_in_a_sequence() -> None:
    last = Fixed(1.0)
    assert not Sequential(Fixed(1.0), Raising(), last)("action", "observation").valid
    assert last.calls == 0


def test_a_sum_asks_everybody_and_names_the_first_that_failed() -> None:
    last = Fixed(1.0)
    score = WeightedSum([Raising(), Fixed(None), last], [0.5, 0.3, 0.2])("action", "observation")
    assert last.calls == 1
    assert score.failure.rubric == "rubric_0"
    found = {name: child["score"] for name, child in score.explained()["children"].items()}
    assert found == {"rubric_0": None, "rubric_1": None, "rubric_2": 1.0}


class Weighing(Rubric):
    def __init__(self, child: Rubric, fallback: float | None = None) -> None:
        self.child = child
        self._fallback = fallback

    def forward(self, action: Any, observation: Any) -> Any:
        score = self.child(action, observation)
        if self._fallback is not None:
            return score.or_else(self._fallback)
        return max(0.0, 0.5 * score)


def test_arithmetic_does_not_wash_a_failure_off() -> None:
    score = Weighing(Raising())("action", "observation")
    assert (score.valid, score.failure.rubric) == (False, "child")


def test_only_or_else_does_and_it_is_told() -> None:
    score = Weighing(Raising(), fallback=0.25)("action", "observation")
    assert (score, score.valid) == (0.25, True)
    assert score.children["child"].failure is not None
    assert Weighing(Fixed(0.75), fallback=0.25)("action", "observation") == 0.75


class Judging(Rubric):
    def forward(self, action: Any, observation: Any) -> Any:
        return Score.failed("another", "the model said nothing")


def test_a_rubric_may_say_itself_that_it_has_no_score() -> None:
    score = Gate(Judging())("action", "observation")
    assert score.failure.to_dict() == {
        "rubric": "rubric",
        "error": "RuntimeError",
        "message": "the model said nothing",
    }


class Concluding(TrajectoryRubric):
    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found

    def score_trajectory(self, trajectory: Any) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def compute_step_rewards(self) -> list[float]:
        return []


class Ended:
    done = True


@pytest.mark.parametrize("found", [None, "x", math.nan, ValueError("no")], ids=repr)
def test_a_trajectory_that_cannot_be_scored(found: Any) -> None:
    assert not Concluding(found)("action", Ended()).valid


def test_hooks_hear_of_failures_and_their_own_are_failures_too() -> None:
    heard: list[Score] = []
    rubric = Raising()
    rubric.register_forward_hook(lambda *call: heard.append(call[-1]))
    rubric("action", "observation")
    assert [score.valid for score in heard] == [False]

    def broken(*call: object) -> None:
        raise OSError("the log is full")

    before, after = Fixed(1.0), Fixed(1.0)
    before.register_forward_pre_hook(broken)
    after.register_forward_hook(broken)
    score = WeightedSum([before, after], [0.5, 0.5])("action", "observation")
    assert [child.failure.error for child in score.children.values()] == ["OSError", "OSError"]
    assert before.calls == 0


@pytest.mark.parametrize(
    "empty", [RubricList([Fixed()]), RubricDict({"a": Fixed()})], ids=["list", "dict"]
)
def test_a_list_and_a_dict_have_no_score(empty: Rubric) -> None:
    with pytest.raises(NotImplementedError, match="has no score of its own"):
        empty("action", "observation")
    assert not Asking(empty)("action", "observation").valid


async def test_a_rubric_that_hangs_is_cancelled_and_named() -> None:
    cancelled = asyncio.Event()

    class Watched(Hanging):
        async def forward(self, action: Any, observation: Any) -> float:
            try:
                return await super().forward(action, observation)
            finally:
                cancelled.set()

    score = await WeightedSum([Watched(), Awaited(1.0)], [0.5, 0.5])("action", "observation")
    assert cancelled.is_set()
    assert score.failure.rubric == "rubric_0"
    assert score.failure.error == "TimeoutError"
    assert score.failure.message == "no score within 0.01 s"
    assert score.children["rubric_1"] == 1.0


class Leaking(Rubric):
    async def forward(self, action: Any, observation: Any) -> float:
        raise asyncio.CancelledError


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a task cannot say whether it is cancelled")
async def test_a_cancellation_that_nobody_asked_for_is_a_failure_like_others() -> None:
    score = await WeightedSum([Leaking(), Awaited(1.0)], [0.5, 0.5])("action", "observation")
    assert score.failure.rubric == "rubric_0"
    assert score.failure.message == "it was cancelled from within"


class OwnTimeout(Rubric):
    async def forward(self, action: Any, observation: Any) -> float:
        raise asyncio.TimeoutError("the judge's own")


async def test_a_timeout_of_its_own_is_told_as_it_is() -> None:
    score = await OwnTimeout()("action", "observation")
    assert score.failure.message == "the judge's own"


def test_the_log_has_the_traceback_of_a_failure_once(caplog: pytest.LogCaptureFixture) -> None:
    Sequential(Gate(Raising()))("action", "observation")
    [record] = caplog.records
    assert (record.name, record.levelname) == ("openenv.rubrics", "WARNING")
    assert "the grader is down" in caplog.text


def test_what_would_end_a_thread_is_a_failure_and_ctrl_c_is_not() -> None:
    with ThreadPoolExecutor(1) as pool:
        score = pool.submit(Gate(Ending(KeyboardInterrupt)), "action", "observation").result()
    assert (score.failure.rubric, score.failure.error) == ("rubric", "Ended")
    assert score.failure.message == "it raised KeyboardInterrupt"
    with pytest.raises(KeyboardInterrupt):
        Gate(Ending(KeyboardInterrupt))("action", "observation")
