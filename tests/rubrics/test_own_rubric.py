"""What a rubric keeps of an episode is of one session, wherever an author has made it."""

import copy
import threading
from contextlib import ExitStack
from typing import Any, ClassVar

import pytest

from openenv import EnvPool, GenericEnvClient, local
from openenv.llm import AnswerCache, OpenAIClient
from openenv.protocol.errors import EnvironmentFactoryError
from openenv.rubrics import (
    ExponentialDiscountingTrajectoryRubric,
    Gate,
    Rubric,
    Sequential,
    TrajectoryRubric,
)
from tests.rubrics.scorers import Fixed
from tests.rubrics.worlds import Delayed, Try
from tests.serving import serving


class Length(ExponentialDiscountingTrajectoryRubric):
    """How many steps an episode had."""

    def score_trajectory(self, trajectory: Any) -> float:
        """Their number."""
        return float(len(trajectory))


class Counting(Rubric):
    """The same, by itself."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def reset(self) -> None:
        """Begins anew."""
        super().reset()
        self.seen.clear()

    def forward(self, action: Any, observation: Any) -> float:
        """The number so far."""
        self.seen.append(action)
        return float(len(self.seen))


class Plain:
    """The same, and no rubric."""

    def __init__(self) -> None:
        self.seen = 0

    def reset(self) -> None:
        """Begins anew."""
        self.seen = 0

    def __call__(self, action: Any, observation: Any) -> float:
        """The number so far."""
        self.seen += 1
        return float(self.seen)


MADE: dict[str, Any] = {
    "trajectory": Length,
    "a reset of its own": Counting,
    "below others": lambda: Sequential(Fixed(1.0), Gate(Length(), threshold=0.0)),
    "no rubric": Plain,
}


def _of_its_class(made: Any) -> type[Delayed]:
    class OfItsClass(Delayed):
        rubric = made

        def __init__(self) -> None:
            """Sets nothing."""

    return OfItsClass


def _of_all(made: Any) -> type[Delayed]:
    class OfAll(Delayed):
        def __init__(self, rubric: Any = made) -> None:
            self.judge = self.rubric = rubric

    return OfAll


def _below_its_own(made: Any) -> type[Delayed]:
    class BelowItsOwn(Delayed):
        def __init__(self) -> None:
            self.rubric = Sequential(Fixed(1.0), made)

    return BelowItsOwn


PLACES = [_of_its_class, _of_all, _below_its_own]
CASES = [(kind, place) for kind in MADE for place in PLACES[: 2 if kind == "no rubric" else 3]]


@pytest.mark.parametrize(("kind", "place"), CASES)
def test_sessions_at_a_time_do_not_mix(kind: str, place: Any) -> None:
    world: type[Delayed] = place(MADE[kind]())
    with local(world) as one:
        one.reset()
        one.step(Try())
        one.step(Try())
        with local(world) as other:
            other.reset()
            one.step(Try())
            other.step(Try())
            assert one.step(Try(end=True)).reward == 4.0
            assert other.step(Try(end=True)).reward == 2.0


@pytest.mark.parametrize("place", [_of_its_class, _of_all])
@pytest.mark.parametrize("host", ["thread", "inline"])
def test_nor_do_many(place: Any, host: str) -> None:
    world = place(Length())
    world.HOST = host
    with (
        serving(world, max_concurrent_envs=8) as server,
        EnvPool(f"http://127.0.0.1:{server.port}", 8, GenericEnvClient) as pool,
    ):
        for _ in range(3):
            pool.reset()
            pool.step([{}] * 8)
            assert pool.step([{"end": True}] * 8).rewards.tolist() == [2.0] * 8


def test_an_instances_rubric_is_read_from_it_and_hooks_go_with_it() -> None:
    heard: list[float] = []
    made: list[Delayed] = []
    shared = Length()
    shared.register_forward_hook(lambda *call: heard.append(call[-1]))

    class Kept(_of_its_class(shared)):  # type: ignore[misc]  # a class made here
        def __init__(self) -> None:
            made.append(self)

    world: type[Delayed] = Kept
    with local(world) as one, local(world) as other:
        one.reset()
        one.step(Try(end=True))
        other.reset()
    assert heard == [1.0]
    first, second = (instance.rubric for instance in made)
    assert first is not second
    assert isinstance(first, Length)
    assert isinstance(second, Length)
    assert (first.last_score, second.last_score, shared.last_score) == (1.0, None, None)


def test_another_name_that_an_instance_has_for_it_is_its_own_too() -> None:
    made: list[Any] = []

    class Named(_of_all(Length())):  # type: ignore[misc]  # a class made here
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    with local(Named), local(Named):
        assert made[0].rubric is not made[1].rubric
        assert all(world.judge is world.rubric for world in made)


def test_sessions_one_after_another_may_have_the_very_same() -> None:
    shared = Length()
    world = _of_all(shared)
    for steps in (1, 2):
        with local(world) as env:
            env.reset()
            for step in range(steps):
                env.step(Try(end=step == steps - 1))
        assert shared.last_score == float(steps)


class Held(Rubric):
    """Keeps nothing, and cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def forward(self, action: Any, observation: Any) -> float:
        """1."""
        return 1.0


class Locked(Counting):
    """Keeps something, and cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


def test_what_keeps_nothing_is_shared() -> None:
    made: list[Any] = []
    held = Held()

    class Sharing(_of_its_class(Sequential(held, Length()))):  # type: ignore[misc]
        def __init__(self) -> None:
            made.append(self)

    with local(Sharing), local(Sharing), local(_of_its_class(held)), local(_of_its_class(held)):
        assert [world.rubric[0] for world in made] == [held, held]


@pytest.mark.parametrize("place", [_of_its_class, _of_all])
def test_what_cannot_be_copied_is_one_sessions_at_a_time(place: Any) -> None:
    world = place(Locked())
    for _ in range(2):
        with local(world) as env:
            env.reset()
            with pytest.raises(EnvironmentFactoryError) as refused, local(world) as other:
                other.reset()
            assert "make one for each instance, in __init__: self.rubric = Locked(...)" in str(
                refused.value
            )
            assert env.step(Try(end=True)).reward == 1.0


class Sparing(Locked):
    """Says how it is copied."""

    def __deepcopy__(self, memo: Any) -> "Sparing":
        return Sparing()


def test_a_rubric_may_say_how_it_is_copied() -> None:
    world = _of_all(Sparing())
    with ExitStack() as stack:
        for _ in range(3):
            env = stack.enter_context(local(world))
            env.reset()
            assert env.step(Try(end=True)).reward == 1.0


class Asking(TrajectoryRubric):
    """Holds a model's client and its answers."""

    CLIENT: ClassVar[OpenAIClient] = OpenAIClient("http://127.0.0.1", 9, "model")

    def __init__(self) -> None:
        super().__init__()
        self.client, self.answers = self.CLIENT, AnswerCache()

    def score_trajectory(self, trajectory: Any) -> float:
        """0."""
        return 0.0

    def compute_step_rewards(self) -> list[float]:
        """None."""
        return []


def test_copies_share_clients_and_answers() -> None:
    rubric = Asking()
    copied = copy.deepcopy(rubric)
    assert copied is not rubric
    assert (copied.client, copied.answers) == (rubric.client, rubric.answers)
