"""What an author writes against."""

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest

from openenv import Action, Environment, Observation, State, local
from openenv.env.transforms import CompositeTransform, NullTransform, Transform
from openenv.protocol.errors import EnvironmentFailed, InvalidRequest
from tests.env.peer_style import PeerAction, PeerEnvironment, PeerObservation, PeerOptions

FOURTEEN_LINES = """\
from openenv import Action, Environment, Observation

class Say(Action):
    message: str

class Heard(Observation):
    message: str = ""

class Echo(Environment[Say, Heard]):
    def reset(self, **options) -> Heard:
        return Heard(message="ready")

    def step(self, action: Say) -> Heard:
        return Heard(message=action.message, reward=len(action.message) / 10)
"""


def test_an_environment_in_fourteen_lines(tmp_path: Path) -> None:
    file = tmp_path / "echo.py"
    file.write_text(FOURTEEN_LINES)
    names = runpy.run_path(str(file))
    with local(names["Echo"]) as env:
        assert env.reset(seed=1, episode_id="mine").observation.message == "ready"
        result = env.step(names["Say"](message="hello"))
        assert (result.observation.message, result.reward, result.done) == ("hello", 0.5, False)
        state = env.state()
        assert (state.episode_id, state.step_count) == ("mine", 1)
        env.reset()
        assert env.state().episode_id not in (None, "mine")
        assert env.state().step_count == 0


def test_an_environment_of_the_peer() -> None:
    with local(PeerEnvironment) as env:
        assert env.reset(seed=3, level="hard").observation.heard == "ready"
        result = env.step(PeerAction(message="hi"))
        assert (result.observation.heard, result.reward) == ("hi", 1.0)
        state = env.state()
        assert (state.step_count, state.last) == (1, "hi")


def test_reset_keywords_arrive() -> None:
    with local(PeerOptions) as env:
        heard = env.reset(seed=3, episode_id="e", level="hard").observation.heard
    assert heard == "3 e [('level', 'hard')]"


def test_an_environment_needs_no_super_init() -> None:
    env = PeerEnvironment()
    observation = env.step(PeerAction(message="x"))
    assert (env.transform, env.rubric) == (None, None)
    assert env._apply_rubric(PeerAction(message="x"), observation) == 0.0
    env._reset_rubric()
    env.close()


class Plain(Environment[PeerAction, PeerObservation]):
    def reset(self, **options: Any) -> PeerObservation:
        return PeerObservation()

    def step(self, action: PeerAction, **options: Any) -> PeerObservation:
        return self._apply_transform(PeerObservation(heard=action.message))


def test_an_environment_outside_a_session_has_a_state() -> None:
    assert Plain().state == State()


def test_metadata_of_an_environment_that_says_nothing() -> None:
    card = Plain().get_metadata()
    assert (card.name, card.description, card.version) == ("Plain", "Plain environment", "1.0.0")


class Reward(Transform[PeerObservation]):
    def __init__(self, reward: float) -> None:
        self.reward = reward

    def __call__(self, observation: PeerObservation) -> PeerObservation:
        total = (observation.reward or 0) + self.reward
        return observation.model_copy(update={"reward": total})


def test_transforms() -> None:
    both = CompositeTransform[PeerObservation]([Reward(1.0), NullTransform(), Reward(0.5)])
    result = Plain(transform=both).step(PeerAction(message="x"))
    assert (result.heard, result.reward) == ("x", 1.5)
    assert Plain().step(PeerAction(message="x")).reward is None
    observation = PeerObservation()
    assert NullTransform[PeerObservation]()(observation) is observation
    assert CompositeTransform[PeerObservation]([])(observation) is observation


class Rubric:
    def __init__(self) -> None:
        self.resets = 0

    def __call__(self, action: PeerAction, observation: PeerObservation) -> float:
        return float(len(action.message))

    def reset(self) -> None:
        self.resets += 1


class AwaitedRubric(Rubric):
    async def __call__(  # type: ignore[override]
        self, action: PeerAction, observation: PeerObservation
    ) -> float:
        await asyncio.sleep(0)
        return 2.0

    async def reset_async(self) -> None:
        self.resets += 10


def test_rubrics() -> None:
    rubric = Rubric()
    env = Plain(rubric=rubric)
    assert env._apply_rubric(PeerAction(message="abc"), PeerObservation()) == 3.0
    env._reset_rubric()
    assert rubric.resets == 1


@pytest.mark.parametrize(
    ("rubric", "score", "resets"), [(None, 0.0, 0), (Rubric(), 1.0, 1), (AwaitedRubric(), 2.0, 10)]
)
async def test_awaited_rubrics(rubric: Rubric | None, score: float, resets: int) -> None:
    env = Plain(rubric=rubric)
    assert await env._apply_rubric_async(PeerAction(message="x"), PeerObservation()) == score
    await env._reset_rubric_async()
    assert (rubric.resets if rubric else 0) == resets


class Awaited(Environment[PeerAction, PeerObservation]):
    def __init__(self) -> None:
        self.closed = False

    async def reset_async(self, seed: int | None = None) -> PeerObservation:
        await asyncio.sleep(0)
        return PeerObservation(heard=str(seed))

    async def step_async(self, action: PeerAction) -> PeerObservation:
        await asyncio.sleep(0)
        return PeerObservation(heard=action.message, done=action.message == "end")


def test_an_async_environment_needs_no_blocking_methods() -> None:
    with pytest.raises(TypeError, match=r"await step_async\(\)"):
        Awaited().step(PeerAction(message="x"))  # type: ignore[abstract]
    with pytest.raises(TypeError, match=r"await reset_async\(\)"):
        Awaited().reset()  # type: ignore[abstract]


def test_an_async_environment_for_a_blocking_client() -> None:
    with local(Awaited) as env:
        assert env.reset(seed=5).observation.heard == "5"
        assert env.step(PeerAction(message="end")).done


async def test_an_async_environment_for_an_awaiting_client() -> None:
    async with local(Awaited) as env:
        assert (await env.reset()).observation.heard == "None"
        assert (await env.step(PeerAction(message="end"))).done


async def test_the_default_async_methods_call_the_blocking_ones() -> None:
    assert (await Plain().step_async(PeerAction(message="x"))).heard == "x"
    assert await Plain().reset_async() == PeerObservation()


def test_a_blocking_environment_may_declare_its_methods_async() -> None:
    class Coroutines(Environment[PeerAction, PeerObservation]):
        async def reset(self, **options: Any) -> PeerObservation:  # type: ignore[override]
            return PeerObservation(heard="r")

        async def step(self, action: PeerAction) -> PeerObservation:  # type: ignore[override]
            return PeerObservation(heard=action.message)

        async def close(self) -> None:  # type: ignore[override]
            await asyncio.sleep(0)

    with local(Coroutines) as env:
        assert env.reset().observation.heard == "r"
        assert env.step(PeerAction(message="x")).observation.heard == "x"


class Wall(Environment[PeerAction, PeerObservation]):
    """Truncates at the third step."""

    def reset(self, **options: Any) -> PeerObservation:
        return PeerObservation()

    def step(self, action: PeerAction) -> PeerObservation:
        return PeerObservation(truncated=self.state.step_count == 2, reward=1.0)


def test_an_environment_may_end_an_episode_by_a_limit() -> None:
    with local(Wall) as env:
        env.reset()
        results = [env.step(PeerAction(message="x")) for _ in range(3)]
        assert [(r.done, r.truncated, r.terminated) for r in results] == [
            (False, False, False),
            (False, False, False),
            (True, True, False),
        ]
        with pytest.raises(InvalidRequest) as caught:
            env.step(PeerAction(message="x"))
        assert caught.value.code == "RESET_REQUIRED"


def test_what_is_no_observation_is_a_typed_error() -> None:
    class Gym(Environment[PeerAction, PeerObservation]):
        def reset(self, **options: Any) -> Any:
            return PeerObservation(), {}

        def step(self, action: PeerAction) -> Any:
            return None

    with local(Gym) as env, pytest.raises(EnvironmentFailed, match=r"Gym.reset must give an Obs"):
        env.reset()


def test_bare_models_are_enough() -> None:
    class Bare(Environment[Action, Observation]):
        def reset(self, **options: Any) -> Observation:
            return Observation(metadata={"task": 1})

        def step(self, action: Action) -> Observation:
            return Observation(reward=1, metadata=action.metadata)

    with local(Bare) as env:
        assert env.reset().observation.metadata == {"task": 1}
        assert env.step(Action(metadata={"k": 2})).metadata == {"k": 2}
