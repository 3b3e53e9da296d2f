"""Rubric: children, paths, hooks, and what is kept of it."""

import asyncio
import copy
import pickle
from typing import Any

import pytest

from openenv.rubrics import Gate, Rubric, RubricList, Score, Sequential, WeightedSum
from tests.rubrics.scorers import Asking, Awaited, Episode, Fixed, settled


class Code(Rubric):
    """As authors write them, with children of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.syntax = Fixed(1.0)
        self.tests = Gate(Episode(gamma=0.5))
        self.name = "no rubric"

    def forward(self, action: Any, observation: Any) -> float:
        """What the syntax is worth."""
        return float(self.syntax(action, observation))


def test_a_rubric_that_says_no_score_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Rubric()  # type: ignore[abstract]


def test_attributes_are_children() -> None:
    code = Code()
    assert list(code.children()) == [code.syntax, code.tests]
    assert [name for name, _ in code.named_children()] == ["syntax", "tests"]
    assert [name for name, _ in code.named_rubrics()] == ["syntax", "tests", "tests.rubric"]
    assert [name for name, _ in code.named_rubrics("code")] == [
        "code.syntax",
        "code.tests",
        "code.tests.rubric",
    ]
    assert list(code.rubrics()) == [code.syntax, code.tests, code.tests.rubric]


def test_paths() -> None:
    code = Code()
    assert code.get_rubric("tests.rubric") is code.tests.rubric
    for path in ("", "test", "tests.", "name", "tests.rubric.x"):
        with pytest.raises(KeyError, match="there are: syntax, tests, tests.rubric"):
            code.get_rubric(path)


def test_a_child_that_is_replaced_or_deleted_is_none_more() -> None:
    code = Code()
    code.syntax = other = Fixed(0.5)
    assert list(code.children()) == [other, code.tests]
    code.syntax = None  # type: ignore[assignment]
    del code.tests
    assert list(code.children()) == []


class Late(Rubric):
    def __init__(self) -> None:
        self.first = Fixed(0.5)
        super().__init__()
        self.second = Fixed(1.0)

    def forward(self, action: Any, observation: Any) -> float:
        return float(self.first(action, observation))


def test_a_child_may_come_before_super_init() -> None:
    rubric = Late()
    assert [name for name, _ in rubric.named_children()] == ["first", "second"]
    assert rubric("action", "observation") == 0.5


def test_no_rubric_holds_itself() -> None:
    inner = Gate(Fixed())
    outer = Sequential(inner)
    for held in (inner, outer):
        with pytest.raises(ValueError, match="a rubric cannot hold itself"):
            inner.rubric = held
    assert isinstance(inner.rubric, Fixed)


@pytest.mark.parametrize("name", ["reset", "forward", "children", "timeout_s"])
def test_a_child_hides_no_method(name: str) -> None:
    with pytest.raises(ValueError, match=f"a child called '{name}'"):
        setattr(Fixed(), name, Fixed())


def test_the_last_score_is_kept() -> None:
    rubric = Code()
    assert rubric.last_score is None
    score = rubric("action", "observation")
    assert rubric.last_score is score
    assert rubric.syntax.last_score == 1.0


def test_hooks_are_called_around_the_call() -> None:
    calls: list[tuple[Any, ...]] = []
    rubric = Fixed(0.5)
    rubric.register_forward_pre_hook(lambda *call: calls.append(call))
    rubric.register_forward_hook(lambda *call: calls.append(call))
    rubric("action", "observation")
    assert calls == [(rubric, "action", "observation"), (rubric, "action", "observation", 0.5)]
    assert Fixed()._forward_hooks == ()


@pytest.mark.parametrize("rubric", [Fixed(0.5), Awaited(0.5)], ids=["blocking", "awaited"])
def test_async_hooks_are_awaited(rubric: Fixed) -> None:
    order: list[str] = []

    async def before(*call: Any) -> None:
        await asyncio.sleep(0)
        order.append(f"before {rubric.calls}")

    async def after(*call: Any) -> None:
        await asyncio.sleep(0)
        order.append(f"after {rubric.calls}")

    rubric.register_forward_pre_hook(before)
    rubric.register_forward_hook(after)
    assert settled(rubric("action", "observation")) == 0.5
    assert order == ["before 0", "after 1"]


def test_state_goes_round() -> None:
    def make(gamma: float) -> Rubric:
        return Sequential(Fixed(), WeightedSum([Gate(Episode(gamma=gamma))], [1.0]), Code())

    saved = make(0.25).state_dict()
    assert saved == {
        "rubric_1.rubric_0.rubric.intermediate_reward": 0.0,
        "rubric_1.rubric_0.rubric.gamma": 0.25,
        "rubric_2.tests.rubric.intermediate_reward": 0.0,
        "rubric_2.tests.rubric.gamma": 0.5,
    }
    other = make(0.75)
    other.load_state_dict(saved)
    assert other.state_dict() == saved
    assert Fixed().state_dict() == {}


def test_reset_reaches_every_child() -> None:
    episodes = [Episode() for _ in range(4)]
    holder = Sequential(
        Asking(episodes[0]),
        WeightedSum([Gate(episodes[1]), episodes[2]], [0.5, 0.5]),
    )
    holder.more = RubricList([episodes[3]])
    for reset in (holder.reset, lambda: asyncio.run(holder.reset_async())):
        for episode in episodes:
            episode("action", None)
        reset()
        assert [episode.trajectory for episode in episodes] == [[]] * 4


class Connected(Fixed):
    resets = 0

    async def reset_async(self) -> None:
        await asyncio.sleep(0)
        self.resets += 1


def test_a_reset_that_awaits_reaches_every_child() -> None:
    children = [Connected(), Connected()]
    asyncio.run(Sequential(children[0], Gate(children[1])).reset_async())
    assert [child.resets for child in children] == [1, 1]


def test_copies_and_pickles() -> None:
    rubric = Code()
    for other in (copy.deepcopy(rubric), pickle.loads(pickle.dumps(rubric))):
        assert list(other.children()) == [other.syntax, other.tests]
        assert other.syntax is not rubric.syntax
    score = rubric("action", "observation")
    other = pickle.loads(pickle.dumps(score))
    assert (other, other.explained()) == (score, score.explained())
    failed = Score.failed("judge", "nothing")
    assert pickle.loads(pickle.dumps(failed)).failure == failed.failure
