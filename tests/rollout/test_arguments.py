"""Mistakes of callers are told by name, and nothing has happened."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from openenv import ConfigurationError, ModeError
from openenv.rollout.pool import EnvPool
from tests.rollout.playing import Play, look
from tests.rollout.worlds import Order, SoldierClient

MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "too few actions": (lambda pool: pool.step(["go"]), "one for each of 4 slots, got 1"),
    "too many": (lambda pool: pool.step(["go"] * 5), "got 5"),
    "one action": (lambda pool: pool.step("gogo"), "actions must be a sequence, got a str"),
    "a dict": (lambda pool: pool.step({"order": "go"}), "sequence, got a dict"),
    "no sequence": (lambda pool: pool.step(7), "sequence, got a int"),
    "an unknown slot": (lambda pool: pool.step(["a"], slots=[4]), r"slots 0 to 3, got \[4\]"),
    "a slot from the end": (lambda pool: pool.reset(slots=[-1]), r"got \[-1\]"),
    "a slot twice": (lambda pool: pool.reset(slots=[1, 1]), "twice"),
    "half a slot": (lambda pool: pool.reset(slots=[0.5]), "numbers of slots"),
    "a mask": (lambda pool: pool.reset(slots=np.array([True, False])), r"batch\.slots\[mask\]"),
    "too few seeds": (lambda pool: pool.reset([1, 2]), "seeds must be one for each of 4"),
    "a word for a seed": (lambda pool: pool.reset(["a", 1, 2, 3]), "whole number or None"),
    "seed": (lambda pool: pool.reset(seed=3), "use seeds"),
    "timeout_s": (lambda pool: pool.reset(timeout_s=3), "EnvPool"),
    "no rows": (lambda pool: pool.recv(0), "min_ready"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_call(url: str, name: str) -> None:
    mistake, told = MISTAKES[name]
    with Play("blocking", url).pool() as pool:
        pool.reset()
        with pytest.raises(ConfigurationError, match=told):
            mistake(pool)
        assert look(pool.step(["go"] * 4), "step") == [1] * 4


def test_what_is_no_action_is_never_sent_nor_are_the_others(url: str) -> None:
    with EnvPool(url, 3) as pool:
        pool.reset()
        with pytest.raises(ConfigurationError, match="slot 2 cannot be sent, so none was"):
            pool.step([Order(order="go"), {"order": "go"}, 7])
        assert pool.step([{"order": "go"}] * 3).stacked["step"].tolist() == [1, 1, 1]


def test_a_value_without_a_wire_form_is_its_slots_error(url: str) -> None:
    with Play("blocking", url).pool() as pool:
        pool.reset()
        batch = pool.step(["go", object(), "go", {"order": {object()}}])
        assert batch.valid.tolist() == [True, False, True, False]
        assert "no wire form" in str(batch.errors[1])
        assert look(pool.step(["go"] * 4), "step") == [2, 1, 2, 1]


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        (("http://a", 0), {}, "size must be a whole number from 1, got 0"),
        (("http://a", 2.5), {}, "size"),
        (([], 2), {}, "from 1 to 2 addresses, got 0"),
        ((["http://a"] * 3, 2), {}, "got 3"),
        (("not an address", 2), {}, "base_url"),
        (("http://a", 2), {"autoreset": "sometimes"}, "next_step, same_step, disabled"),
        (("http://a", 2), {"sockets": 0}, "sockets"),
        (("http://a", 2), {"protocol": "v3"}, "protocol must be one of v1"),
        (("http://a", 2, dict), {}, "subclass of EnvClient"),
    ],
)
def test_a_mistake_in_the_making(arguments: Any, options: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        EnvPool(*arguments, **options)


async def test_one_pool_works_one_way(url: str) -> None:
    pool = EnvPool(url, 2, SoldierClient)
    await pool.reset()
    with pytest.raises(ModeError):
        pool.sync()
    await pool.close()
    with pytest.raises(ModeError), EnvPool(url, 2, SoldierClient) as blocking:
        async with blocking:
            pass


async def test_blocking_inside_a_running_loop(url: str) -> None:
    with EnvPool(url, 2, SoldierClient) as pool:
        assert look(pool.reset(), "step") == [0, 0]
    with EnvPool(url, 2, SoldierClient).sync() as pool:
        assert look(pool.reset(), "step") == [0, 0]
    read_without_await = EnvPool(url, 2, SoldierClient)
    assert read_without_await.reset().rewards.shape == (2,)
    read_without_await.close()
