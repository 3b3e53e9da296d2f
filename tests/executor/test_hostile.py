"""Whatever code does, its caller is told in time, and the next code runs as if nothing had been."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue

import pytest

from openenv.executor import ExecutorLimits, PythonExecutor
from tests.executor.hostile import AFTER, AFTER_STDOUT, HOSTILE, PATIENCE_S, Attack

LIMITS = ExecutorLimits(timeout_s=60, memory_bytes=256 << 20, files_bytes=16 << 20)
AT_ONCE = 4


@pytest.fixture(scope="module")
def executor() -> Iterator[PythonExecutor]:
    with PythonExecutor(limits=LIMITS) as executor:
        yield executor


def check(executor: PythonExecutor, attack: Attack) -> None:
    result = executor.run(attack.code, timeout_s=PATIENCE_S if attack.is_endless else None)
    assert result.exit_code in attack.exit_codes, result
    assert attack.stdout is None or result.stdout == attack.stdout
    assert all(each in result.stderr for each in attack.stderr), result.stderr
    assert max(len(result.stdout), len(result.stderr)) <= attack.at_most
    assert result.timed_out == (result.exit_code == 124)
    after = executor.run(AFTER)
    assert (after.stdout, after.stderr, after.exit_code) == (AFTER_STDOUT, "", 0)


@pytest.mark.timeout(100)
@pytest.mark.parametrize("name", [name for name in HOSTILE if not HOSTILE[name].is_endless])
def test_hostile_code_harms_itself_alone(executor: PythonExecutor, name: str) -> None:
    check(executor, HOSTILE[name])


@pytest.mark.timeout(200)
def test_code_that_never_ends_is_ended() -> None:
    endless = [attack for attack in HOSTILE.values() if attack.is_endless]
    free: SimpleQueue[PythonExecutor] = SimpleQueue()

    def play(attack: Attack) -> None:
        executor = free.get()
        check(executor, attack)
        free.put(executor)

    with ExitStack() as stack, ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in range(AT_ONCE):
            free.put(stack.enter_context(PythonExecutor(limits=LIMITS)))
        for _ in pool.map(play, endless):
            pass
