"""What a pool counts, and who is told."""

from typing import Any

import pytest

from openenv.rollout.metrics import PoolMetrics
from tests.client.ways import Ask
from tests.rollout.playing import Play


def test_a_hook_hears_of_every_batch(play: Play) -> None:
    heard: list[PoolMetrics] = []

    async def talk(pool: Any, ask: Ask) -> None:
        assert pool.metrics == PoolMetrics(size=4)
        await ask(pool.reset())
        await ask(pool.step(["go", "end", "cut", "raise"]))
        await ask(pool.step(["go"] * 4))
        await ask(pool.send(["go"], [2]))
        assert pool.metrics.waiting == 1
        await ask(pool.recv())
        assert len(heard) == 4
        assert [metrics.steps for metrics in heard] == [0, 3, 5, 6]
        last = heard[-1]
        assert (last.size, last.episodes, last.failures, last.waiting) == (4, 2, 1, 0)
        assert (last.faults, last.lost, last.restarts) == (0, 0, 0)
        assert last.steps_per_s == last.steps / last.elapsed_s > 0

    play.run(talk, on_batch=heard.append)


def test_a_hook_may_use_the_pool(play: Play) -> None:
    if play.colour == "awaiting":
        pytest.skip("it would have to be awaited")
    batches = []
    over = [1]

    def reset_what_is_over(metrics: PoolMetrics) -> None:
        if metrics.episodes in over:
            over.clear()
            batches.append(pool.reset(slots=[0]))

    with play.pool(on_batch=reset_what_is_over, autoreset="disabled") as pool:
        pool.reset()
        pool.step(["end", "go", "go", "go"])
        assert batches[0].slots.tolist() == [0]
        assert pool.step(["go"] * 4).valid.all()
