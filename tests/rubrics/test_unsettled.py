"""A verifier that was begun and not waited for is no zero either."""

import asyncio
from typing import Any

import pytest

from openenv import Action, Environment, Observation, local
from openenv.rubrics import Gate, Rubric
from tests.rubrics.scorers import Fixed, Hanging


class Endless(Rubric):
    """Would never answer, and nothing but its caller ends it."""

    timeout_s = None

    async def forward(self, action: Any, observation: Any) -> float:
        """Nothing."""
        await asyncio.Event().wait()
        return 0.0


class Waiting(Rubric):
    """Waits for its child for a moment."""

    def __init__(self, child: Rubric) -> None:
        self.child = child

    async def forward(self, action: Any, observation: Any) -> float:
        """The child's score, or 0."""
        try:
            return float(await asyncio.wait_for(self.child(action, observation), 0.01))
        except asyncio.TimeoutError:
            return 0.0


class Cancelling(Waiting):
    """Has no time at all."""

    async def forward(self, action: Any, observation: Any) -> float:
        """0."""
        task = asyncio.ensure_future(self.child(action, observation))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return 0.0


class Forgetting(Waiting):
    """Does not wait."""

    async def forward(self, action: Any, observation: Any) -> float:
        """1."""
        self.child(action, observation).close()
        return 1.0


class Patient(Waiting):
    """Says what a child without a score is worth."""

    async def forward(self, action: Any, observation: Any) -> float:
        """Its half."""
        score = await self.child(action, observation)
        return float(score.or_else(0.5))


class Ended(Waiting):
    """Has itself no time."""

    timeout_s = 0.01

    async def forward(self, action: Any, observation: Any) -> float:
        """Nothing."""
        return float(await self.child(action, observation))


IMPATIENT = [Waiting, Cancelling, Forgetting]


@pytest.mark.parametrize("parent", IMPATIENT)
async def test_a_child_that_was_not_waited_for_leaves_no_score(parent: type[Waiting]) -> None:
    score = await Gate(parent(Endless()), threshold=0.0)("action", "observation")
    assert score.failure.path == ("rubric", "child")
    assert score.failure.error == "Unsettled"
    assert "or_else" in score.failure.message


async def test_a_time_of_the_childs_own_and_or_else_are_the_way() -> None:
    assert await Patient(Hanging())("action", "observation") == 0.5


async def test_the_parents_own_time_is_told_as_it_is() -> None:
    score = await Ended(Endless())("action", "observation")
    assert (score.failure.path, score.failure.error) == ((), "TimeoutError")


class Judged(Environment[Action, Observation]):
    """Is scored by who does not wait."""

    PARENT: type[Waiting] = Waiting

    def __init__(self) -> None:
        super().__init__(rubric=self.PARENT(Endless()))

    def reset(self, seed: int | None = None) -> Observation:
        """Begins."""
        return Observation()

    def step(self, action: Action) -> Observation:
        """Ends."""
        return self.rewarded(action, Observation(done=True))


class JudgedAsync(Environment[Action, Observation]):
    """Does not wait itself."""

    def __init__(self) -> None:
        super().__init__(rubric=Endless())

    async def reset_async(self, seed: int | None = None) -> Observation:
        """Begins."""
        return Observation()

    async def step_async(self, action: Action) -> Observation:
        """Ends."""
        seen = Observation(done=True, reward=0.0)
        try:
            return await asyncio.wait_for(self.rewarded_async(action, seen), 0.01)
        except asyncio.TimeoutError:
            return seen


@pytest.mark.parametrize("world", [Judged, JudgedAsync])
def test_neither_has_a_step(world: Any) -> None:
    with local(world) as env:
        env.reset()
        result = env.step(Action())
    assert result.reward is None
    assert result.reward_error is not None
    assert result.reward_error["error"] == "Unsettled"


def test_a_call_that_ended_is_what_it_was() -> None:
    assert Gate(Fixed(1.0))("action", "observation") == 1.0
