"""Seeds of an executor: the global generators of its interpreters begin with them."""

import pytest

from openenv.executor import ExecutorLimits, PythonExecutor

DRAW = "import random\n[random.random(), random.getrandbits(64)]"
LARGE = 10**30


def test_a_seed_settles_what_is_drawn() -> None:
    with PythonExecutor(limits=ExecutorLimits(timeout_s=60)) as executor:
        drawn = {}
        for seed in (1, 2, LARGE):
            executor.reset(seed=seed)
            drawn[seed] = [executor.run(DRAW).value, executor.run(DRAW).value]
            assert drawn[seed][0] != drawn[seed][1]
        assert len({first for first, _ in drawn.values()}) == 3
        executor.reset(seed=1)
        assert executor.run(DRAW).value == drawn[1][0]
        assert executor.run("import os\nos._exit(1)").restarted
        assert executor.run(DRAW).value == drawn[1][0]
        executor.reset()
        unseeded = executor.run(DRAW).value
        executor.reset()
        assert executor.run(DRAW).value != unseeded


@pytest.mark.timeout(60)
def test_numpy_is_seeded_where_it_is_preloaded() -> None:
    pytest.importorskip("numpy")
    draw = "import numpy\nnumpy.random.random()"
    with PythonExecutor(limits=ExecutorLimits(timeout_s=60), preload=("numpy",)) as executor:
        values = []
        for seed in (LARGE, LARGE, 2):
            executor.reset(seed=seed)
            values.append(executor.run(draw).value)
    assert values[0] == values[1] != values[2]
