"""Containers: what each makes of its children's scores, blocking and awaited."""

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest

from openenv.rubrics import (
    Gate,
    Rubric,
    RubricDict,
    RubricList,
    Score,
    Sequential,
    WeightedSum,
)
from tests.rubrics.scorers import Awaited, Episode, Fixed, settled

MAKERS: list[type[Fixed]] = [Fixed, Awaited]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("founds", "score", "calls"),
    [((), 1.0, ()), ((0.5, 0.25), 0.25, (1, 1)), ((0.5, 0.0, 1.0), 0.0, (1, 1, 0))],
)
def test_sequential(
    make: type[Fixed], founds: tuple[float, ...], score: float, calls: tuple[int, ...]
) -> None:
    rubrics = [make(found) for found in founds]
    assert settled(Sequential(*rubrics)("action", "observation")) == score
    assert tuple(rubric.calls for rubric in rubrics) == calls


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("found", "score"), [(0.7, 0.7), (0.5, 0.5), (0.49, 0.0), (-1.0, 0.0)])
def test_gate(make: type[Fixed], found: float, score: float) -> None:
    assert settled(Gate(make(found), threshold=0.5)("action", "observation")) == score


def test_a_gate_lets_only_a_full_score_through_by_default() -> None:
    assert Gate(Fixed(0.99))("action", "observation") == 0.0
    assert Gate(Fixed(1.0))("action", "observation") == 1.0


@pytest.mark.parametrize("make", MAKERS)
def test_weighted_sum(make: type[Fixed]) -> None:
    rubric = WeightedSum([make(1.0), Fixed(0.5), make(0.0)], [0.5, 0.3, 0.2])
    assert settled(rubric("action", "observation")) == pytest.approx(0.65)
    rubric.weights.clear()
    assert rubric.weights == [0.5, 0.3, 0.2]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"Number of rubrics \(2\) must match number of weights \(1\)"),
        ([0.5, 0.4], "must sum to 1.0, got 0.9"),
        ([float("nan"), 1.0], "must sum to 1.0, got nan"),
    ],
)
def test_weights_that_do_not_fit(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WeightedSum([Fixed(), Fixed()], weights)


@pytest.mark.parametrize("make", MAKERS)
def test_a_gate_in_a_sum_gates_only_itself(make: type[Fixed]) -> None:
    """An answer that does not compile: 0.2 of a sum, 0 of a sequence."""
    compiles, correct, tidy = make(0.0), make(0.0), make(1.0)
    summed = WeightedSum([Gate(compiles), correct, tidy], [0.1, 0.7, 0.2])
    assert settled(summed("action", "observation")) == pytest.approx(0.2)
    assert compiles.calls == correct.calls == tidy.calls == 1
    gated = Sequential(Gate(compiles), WeightedSum([correct, tidy], [0.8, 0.2]))
    score = settled(gated("action", "observation"))
    assert (score, score.valid) == (0.0, True)
    assert (compiles.calls, correct.calls, tidy.calls) == (2, 1, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sequential(Fixed(0.5)),
        Sequential,
        lambda: Gate(Fixed(0.5), threshold=0.5),
        lambda: WeightedSum([Fixed(0.5)], [1.0]),
        lambda: Sequential(Gate(WeightedSum([Fixed(0.5)], [1.0]), threshold=0.1)),
    ],
)
async def test_blocking_children_give_a_float_on_an_event_loop_too(
    make: Callable[[], Rubric],
) -> None:
    score = make()("action", "observation")
    assert isinstance(score, float)
    assert not asyncio.iscoroutine(score)
    assert await score is score  # type: ignore[misc]  # a Score may be awaited


def test_a_mixture_may_be_called_outside_a_loop_and_awaited_in_one() -> None:
    pending = WeightedSum([Fixed(1.0), Awaited(0.5)], [0.5, 0.5])("action", "observation")
    assert asyncio.iscoroutine(pending)
    assert asyncio.run(pending) == 0.75


class Meeting(Rubric):
    """Waits until so many wait at a time."""

    def __init__(self, meeting: "Room") -> None:
        self.room = meeting

    async def forward(self, action: Any, observation: Any) -> float:
        await self.room.enter()
        return 1.0


class Room:
    def __init__(self, wanted: int) -> None:
        self._wanted, self._inside, self.most = wanted, 0, 0
        self._full = asyncio.Event()

    async def enter(self) -> None:
        self._inside += 1
        self.most = max(self.most, self._inside)
        if self._inside >= self._wanted:
            self._full.set()
        await self._full.wait()
        self._inside -= 1


async def test_async_children_are_awaited_in_parallel() -> None:
    room = Room(3)
    rubric = WeightedSum([Meeting(room) for _ in range(4)], [0.25] * 4)
    assert await rubric("action", "observation") == 1.0


async def test_but_not_more_than_so_many_at_a_time() -> None:
    class Narrow(WeightedSum):
        PARALLEL = 2

    room = Room(2)
    rubric = Narrow([Meeting(room) for _ in range(7)], [1 / 7] * 7)
    assert await rubric("action", "observation") == pytest.approx(1.0)
    assert room.most == 2


async def test_whoever_is_cancelled_cancels_the_children_and_those_whose_turn_never_came() -> None:
    class Narrow(WeightedSum):
        PARALLEL = 2

    begun, ended = asyncio.Event(), []

    class Endless(Rubric):
        async def forward(self, action: Any, observation: Any) -> float:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(self)
            return 0.0

    rubric = Sequential(Narrow([Endless() for _ in range(4)], [0.25] * 4))
    task = asyncio.ensure_future(rubric("action", "observation"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(ended) == 2
    assert rubric.last_score is None


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_what_was_never_begun_is_given_up_at_every_depth() -> None:
    """A coroutine that nobody awaits would say so when it is collected."""

    class Narrow(WeightedSum):
        PARALLEL = 1

    def tree(depth: int) -> Rubric:
        if not depth:
            return Awaited(1.0)
        return Narrow([Sequential(tree(depth - 1)) for _ in range(2)], [0.5, 0.5])

    async def cancelled() -> None:
        for rounds in range(8):
            task = asyncio.ensure_future(tree(3)("action", "observation"))
            for _ in range(rounds):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())
    tree(3)("action", "observation").close()
    gc.collect()


@pytest.mark.parametrize("empty", [RubricList, Sequential])
def test_rubrics_in_a_row(empty: type[RubricList] | type[Sequential]) -> None:
    first, second = Fixed(1.0), Fixed(2.0)
    row = RubricList([first, second]) if empty is RubricList else Sequential(first, second)
    assert len(row) == 2
    assert (row[0], row[-1], row[:1], list(row)) == (first, second, [first], [first, second])
    assert [name for name, _ in row.named_children()] == ["rubric_0", "rubric_1"]
    with pytest.raises(IndexError):
        row[2]


def test_a_list_grows() -> None:
    row, first, second = RubricList(), Fixed(), Fixed()
    row.append(first)
    row.extend([second])
    assert list(row) == [first, second]
    with pytest.raises(TypeError, match="expected a Rubric, got int"):
        row.append(3)  # type: ignore[arg-type]


def test_a_dict() -> None:
    first, second, third = Fixed(), Fixed(), Fixed()
    rubrics = RubricDict({"reset": first})
    rubrics["keys"] = second
    rubrics.update({"pong": third})
    assert list(rubrics) == list(rubrics.keys()) == ["reset", "keys", "pong"]
    assert list(rubrics.values()) == [first, second, third]
    assert dict(rubrics.items())["pong"] is rubrics.pong is rubrics["pong"] is third
    assert ("reset" in rubrics, "step" in rubrics, len(rubrics)) == (True, False, 3)
    del rubrics["keys"]
    assert list(rubrics) == ["reset", "pong"]
    with pytest.raises(KeyError):
        rubrics["keys"]
    with pytest.raises(AttributeError, match="'RubricDict' object has no attribute 'breakout'"):
        rubrics.breakout  # noqa: B018


@pytest.mark.parametrize("name", ["", "a.b", 3])
def test_names_that_no_path_could_have(name: Any) -> None:
    with pytest.raises(ValueError, match="a text without a dot"):
        RubricDict({name: Fixed()})


def test_a_name_of_a_method_leaves_the_method() -> None:
    episode = Episode()
    rubrics = RubricDict({"reset": episode, "state_dict": Fixed()})
    episode("action", None)
    rubrics.reset()
    assert episode.trajectory == []
    assert rubrics.state_dict() == {"reset.gamma": 0.99, "reset.intermediate_reward": 0.0}


def test_a_score_is_a_float_to_everybody() -> None:
    score = WeightedSum([Fixed(0.5), Fixed(True)], [0.5, 0.5])("action", "observation")
    assert isinstance(score, Score)
    assert (score, score + 1, f"{score:.2f}", hash(score)) == (0.75, 1.75, "0.75", hash(0.75))


def test_every_part_of_a_score_is_told_by_its_name() -> None:
    rubric = WeightedSum([Gate(Fixed(0.0)), Fixed(1.0)], [0.25, 0.75])
    assert rubric("action", "observation").explained() == {
        "rubric": "WeightedSum",
        "score": 0.75,
        "weights": [0.25, 0.75],
        "children": {
            "rubric_0": {
                "rubric": "Gate",
                "score": 0.0,
                "threshold": 1.0,
                "children": {"rubric": {"rubric": "Fixed", "score": 0.0}},
            },
            "rubric_1": {"rubric": "Fixed", "score": 1.0},
        },
    }


class Twice(Rubric):
    def __init__(self) -> None:
        self.child = Fixed(0.5)

    def forward(self, action: Any, observation: Any) -> float:
        return float(self.child(action, 1) + self.child(action, 2))


def test_a_child_that_is_called_twice_is_told_twice() -> None:
    assert list(Twice()("action", "observation").children) == ["child", "child#2"]


async def test_calls_of_one_rubric_at_a_time_keep_their_parts_apart() -> None:
    class Echoing(Rubric):
        async def forward(self, action: Any, observation: Any) -> float:
            await asyncio.sleep(0)
            return float(action)

    shared = WeightedSum([Echoing(), Gate(Echoing(), threshold=0.0)], [0.5, 0.5])

    async def look(*call: object) -> None:
        await asyncio.sleep(0)

    shared.register_forward_hook(look)
    scores = await asyncio.gather(*(shared(number, None) for number in range(20)))
    for number, score in enumerate(scores):
        assert score == number
        assert [child for child in score.children.values()] == [number, number]
