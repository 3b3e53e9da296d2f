"""TRL's GRPOTrainer, really training a small model over sessions of real servers."""

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from echo_env.models import EchoAction, EchoObservation
from echo_env.server import EchoEnvironment
from openenv.integrations.trl import env_reward, environment_factory, rollout_func
from tests.integrations.trl.conftest import Trainers, column
from tests.serving import Served, eventually, serving

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.timeout(240),
]

ECHO: dict[str, Any] = {"action_cls": EchoAction, "observation_cls": EchoObservation}


class Moody(EchoEnvironment):
    """An echo that cannot reward what begins with one of the first four letters, or is empty."""

    def step(self, action: EchoAction, *args: Any, **options: Any) -> EchoObservation:
        seen = super().step(action, *args, **options)
        if action.message[:1] in "abcd":
            seen.reward = None
            seen.metadata["reward_error"] = "no mood for it"
        return seen


@pytest.fixture(scope="module")
def echo() -> Iterator[Served]:
    with serving(EchoEnvironment, **ECHO) as served:
        yield served


def silent(observation: Any) -> None:
    """Tells the model nothing of the first observation."""


def by_factory(url: str) -> dict[str, Any]:
    """Lets TRL play the episodes."""
    return {"environment_factory": environment_factory(url, tools="actions", reset_text=silent)}


def by_rollouts(url: str) -> dict[str, Any]:
    """Plays the episodes for TRL."""
    played = rollout_func(url, tools="actions", reset_text=silent)
    return {"rollout_func": played, "reward_funcs": env_reward}


Way = Callable[[str], dict[str, Any]]
both = pytest.mark.parametrize("way", [by_factory, by_rollouts])


def learns(trainer: Any) -> None:
    """Each step had something to learn from, and the reward went up."""
    rewards = column(trainer, "reward")
    assert all(map(math.isfinite, rewards))
    assert min(column(trainer, "reward_std")) > 0
    assert min(column(trainer, "grad_norm")) > 0
    assert sum(rewards[-3:]) >= 1.5 * sum(rewards[:3]), rewards


def test_the_factory_learns_to_talk(trainers: Trainers, echo: Served) -> None:
    options = by_factory(f"http://127.0.0.1:{echo.port}")
    trainer = trainers(args={"max_steps": 10}, **options)
    trainer.train()
    assert echo.active() == 8  # a session for each rollout of a batch, kept
    options["environment_factory"].close_all()
    assert echo.active() == 0
    assert min(column(trainer, "tools/call_frequency")) > 0.5
    assert max(column(trainer, "tools/failure_frequency")) == 0
    learns(trainer)


def test_both_ways_are_the_same_run(trainers: Trainers, echo: Served) -> None:
    runs = []
    for way in (by_rollouts, by_factory):
        options = way(f"http://127.0.0.1:{echo.port}")
        trainer = trainers(args={"max_steps": 3}, **options)
        trainer.train()
        if way is by_rollouts:
            assert echo.active() == 0
        else:
            options["environment_factory"].close_all()
        runs.append((column(trainer, "reward"), column(trainer, "grad_norm")))
    (rewards, gradients), (same_rewards, same_gradients) = runs
    assert rewards == pytest.approx(same_rewards)
    assert gradients == pytest.approx(same_gradients, rel=1e-3)


@both
def test_rewards_that_failed_are_masked(trainers: Trainers, way: Way) -> None:
    with serving(Moody, **ECHO) as served:
        options = way(f"http://127.0.0.1:{served.port}")
        trainer = trainers(args={"max_steps": 2}, **options)
        trainer.train()
        for made in filter(None, [options.get("environment_factory")]):
            made.close_all()
    for step, (rewards, advantages) in enumerate(zip(*noted(trainer), strict=True)):
        known = [reward for reward in rewards if not math.isnan(reward)]
        assert 0 < len(known) < len(rewards) == 8
        unknown = [a for r, a in zip(rewards, advantages, strict=True) if math.isnan(r)]
        assert set(unknown) == {0.0}
        assert column(trainer, "reward")[step] == pytest.approx(sum(known) / len(known))


def noted(trainer: Any) -> tuple[list[list[float]], list[list[float]]]:
    """Rewards and advantages of each step's rollouts."""
    return trainer.notes.rewards, trainer.notes.advantages


class Restarted:
    """A server that is started anew, on its port, in the middle of a call."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.served = self._stack.enter_context(self._serving(0))
        self.url = f"http://127.0.0.1:{self.served.port}"

    def restart(self) -> None:
        """Ends the server with all its sessions, and begins it again."""
        self._stack.close()
        self.served = self._stack.enter_context(self._serving(self.served.port))

    def close(self) -> None:
        """Ends it."""
        self._stack.close()

    @staticmethod
    def _serving(port: int) -> Any:
        return serving(
            EchoEnvironment, port, action_cls=EchoAction, observation_cls=EchoObservation
        )


@pytest.fixture
def restarted() -> Iterator[Restarted]:
    server = Restarted()
    yield server
    server.close()


def test_the_factory_survives_a_restart(trainers: Trainers, restarted: Restarted) -> None:
    options = by_factory(restarted.url)
    made = options["environment_factory"]
    calls, call = itertools.count(1), made.act

    @functools.wraps(call)
    def act(self: Any, /, **arguments: Any) -> str:
        if next(calls) == 12:  # of about 10 in a batch: in the middle of the second
            restarted.restart()
        answer: str = call(self, **arguments)
        return answer

    made.act = act
    trainer = trainers(args={"max_steps": 4}, **options)
    trainer.train()
    rewards, advantages = noted(trainer)
    lost = [sum(map(math.isnan, step)) for step in rewards]
    assert lost[1] >= 1
    assert (lost[0], lost[2], lost[3]) == (0, 0, 0)
    assert all(a == 0.0 for r, a in zip(rewards[1], advantages[1], strict=True) if math.isnan(r))
    assert max(column(trainer, "tools/failure_frequency")) > 0
    eventually(lambda: restarted.served.active() == 8)
    made.close_all()


def test_rollouts_survive_a_restart(trainers: Trainers, restarted: Restarted) -> None:
    begun = itertools.count(1)

    def text(observation: Any) -> None:
        if next(begun) == 12:
            restarted.restart()

    played = rollout_func(restarted.url, tools="actions", reset_text=text)
    trainer = trainers(args={"max_steps": 3}, rollout_func=played, reward_funcs=env_reward)
    trainer.train()
    lost = [sum(map(math.isnan, step)) for step in noted(trainer)[0]]
    assert (lost[0], lost[2]) == (0, 0)
    assert lost[1] >= 1
    assert restarted.served.active() == 0
