"""Resetting and stepping a pool, whole or in part."""

import math
from typing import Any

import numpy as np
import pytest

from openenv import (
    Action,
    EnvClient,
    Environment,
    EnvironmentFailed,
    GenericEnvClient,
    Observation,
    State,
)
from openenv.client.results import StepResult
from openenv.rollout.pool import EnvPool
from tests.client.ways import Ask, talking
from tests.rollout.playing import Play, look
from tests.rollout.worlds import Order, Seen, SoldierClient
from tests.serving import Served, serving


def test_every_slot_is_a_session_of_its_own(play: Play, soldiers: Served) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        batch = await ask(pool.reset())
        assert len(set(look(batch, "session"))) == len(batch) == len(pool) == 5
        assert soldiers.openenv.active_sessions == 5
        sessions = look(batch, "session")
        for step in range(1, 4):
            batch = await ask(pool.step([Order(order=f"go{n}") for n in range(5)]))
            assert look(batch, "session") == sessions
            assert look(batch, "word") == ["go0", "go1", "go2", "go3", "go4"]
            assert batch.rewards.tolist() == [step] * 5

    play.run(talk, size=5)


def test_nothing_connects_before_the_first_reset(play: Play, soldiers: Served) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        assert soldiers.openenv.active_sessions == 0

    play.run(talk)


@pytest.mark.parametrize(
    ("seeds", "slots", "expected"),
    [
        (None, None, [None] * 4),
        (10, None, [10, 11, 12, 13]),
        (np.int64(10), [3, 1], [13, 11]),
        ([5, 5, None, 7], None, [5, 5, None, 7]),
        (np.array([8, 9]), np.array([0, 2]), [8, 9]),
    ],
)
def test_seeds(play: Play, seeds: Any, slots: Any, expected: list[int | None]) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        batch = await ask(pool.reset(seeds, slots=slots))
        assert look(batch, "seed") == expected
        assert batch.slots.tolist() == ([0, 1, 2, 3] if slots is None else list(slots))

    play.run(talk)


def test_some_slots_only(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        sessions = look(await ask(pool.reset()), "session")
        batch = await ask(pool.step(["a", "b"], slots=[2, 0]))
        assert batch.slots.tolist() == [2, 0]
        assert look(batch, "word") == ["a", "b"]
        assert look(batch, "session") == [sessions[2], sessions[0]]
        batch = await ask(pool.reset(slots=[2]))
        assert look(batch, "session") == [sessions[2]]
        assert look(await ask(pool.step(["go"] * 4)), "step") == [2, 1, 1, 1]

    play.run(talk)


def test_what_a_reset_says_reaches_every_environment(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        batch = await ask(pool.reset(1, level=3, task="hard"))
        assert look(batch, "options") == [["level", "task"]] * 4

    play.run(talk)


def test_a_batch_as_lists_and_arrays(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        batch = await ask(pool.reset())
        assert math.isnan(batch.rewards[0])
        assert batch.began.all()
        batch = await ask(pool.step(["go", "end", "cut", "raise"]))
        assert batch.slots.dtype == np.int64
        assert (batch.rewards.dtype, batch.rewards[:3].tolist()) == (np.float64, [1.0, 1.0, 1.0])
        assert math.isnan(batch.rewards[3])
        assert batch.terminated.tolist() == [False, True, False, False]
        assert batch.truncated.tolist() == [False, False, True, False]
        assert batch.done.tolist() == [False, True, True, False]
        assert batch.valid.tolist() == [True, True, True, False]
        assert batch.began.tolist() == [False] * 4
        assert {a.dtype for a in (batch.done, batch.valid, batch.began)} == {np.dtype(bool)}
        assert isinstance(batch.results[1], StepResult)
        assert isinstance(batch.observations[1], Seen)
        assert (batch.results[3], batch.observations[3]) == (None, None)
        assert batch.final == [None] * 4
        assert batch[1] is batch.results[1]
        assert isinstance(batch.errors[3], EnvironmentFailed)
        assert repr(batch) == "<Batch of 4 rows, 1 failed>"
        with pytest.raises(EnvironmentFailed, match="fell"):
            batch[3]

    play.run(talk)


def test_plain_dicts_do_without_models(colour: str, url: str) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        batch = await ask(pool.step([{"order": "go"}, {"order": "end"}]))
        assert [seen["word"] for seen in batch.observations] == ["go", "end"]
        assert batch.stacked["pair"].tolist() == [[1, 1], [1, 1]]
        assert batch.done.tolist() == [False, True]

    talking(colour, talk, EnvPool(url, 2))


class Turn(Action):
    by: int


class Angle(Observation):
    angle: float = 0.0


class Dial(Environment[Turn, Angle, State]):
    """Turns by whole degrees."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, **kwargs: Any) -> Angle:
        self._angle = 0.0
        return Angle()

    def step(self, action: Turn) -> Angle:
        self._angle += action.by
        return Angle(angle=self._angle)

    @property
    def state(self) -> State:
        return State()


class DialClient(EnvClient[Turn, Angle, State]):
    """The dial's client."""


@pytest.mark.parametrize("actions", [[1, 2, 3], np.array([1, 2, 3]), np.array([1, 2, 3], "uint8")])
def test_an_array_of_the_only_field_is_a_batch_of_actions(actions: Any) -> None:
    with serving(Dial) as dials, EnvPool(f"http://127.0.0.1:{dials.port}", 3, DialClient) as pool:
        pool.reset()
        assert pool.step(actions).stacked["angle"].tolist() == [1.0, 2.0, 3.0]
        assert pool.step([Turn(by=1), {"by": 2}, 3]).stacked["angle"].tolist() == [2, 4, 6]


class Shouting(SoldierClient):
    """Says everything louder, and hears only the word."""

    def _step_payload(self, action: Any) -> dict[str, Any]:
        return {"order": action.upper()}

    def _parse_result(self, payload: dict[str, Any]) -> Any:
        return StepResult(payload["observation"]["word"], payload["reward"], payload["done"])


def test_the_encodings_of_a_client_class_are_used(colour: str, url: str) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        assert (await ask(pool.reset())).observations == ["ready", "ready"]
        batch = await ask(pool.step(["go", "stop"]))
        assert batch.observations == batch.stacked["observation"] == ["GO", "STOP"]

    talking(colour, talk, EnvPool(url, 2, Shouting))


def test_a_generic_pool_takes_what_a_generic_client_takes(url: str) -> None:
    with EnvPool(url, 2, GenericEnvClient) as pool:
        pool.reset()
        batch = pool.step([Order(order="go"), {"order": "on"}])
        assert batch.stacked["word"] == ["go", "on"]


class Careless(SoldierClient):
    """Forgets to make results."""

    def _parse_result(self, payload: dict[str, Any]) -> Any:
        return payload if payload["observation"]["word"] == "go" else super()._parse_result(payload)


def test_a_client_that_makes_no_results_is_told(colour: str, url: str) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        batch = await ask(pool.step(["go", "on"]))
        assert batch.valid.tolist() == [False, True]
        assert "no StepResult" in str(batch.errors[0])

    talking(colour, talk, EnvPool(url, 2, Careless))
