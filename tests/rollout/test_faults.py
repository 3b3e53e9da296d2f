"""One slot's fault is its own, and is made good by the next call."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from openenv import (
    ConnectFailed,
    EnvironmentFailed,
    HostCrashed,
    InvalidRequest,
    Limits,
    ReplyTimeout,
    SessionLost,
    StepTimeout,
)
from tests.client.ways import Ask
from tests.rollout.playing import Play, look, until
from tests.rollout.worlds import Soldier
from tests.serving import serving

ROOT = Path(__file__).parents[2]


def test_one_of_eight_raises_at_step_3(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        for step in (1, 2):
            assert look(await ask(pool.step(["go"] * 8)), "step") == [step] * 8
        batch = await ask(pool.step(["go"] * 5 + ["raise"] + ["go"] * 2))
        assert look(batch, "step") == [3, 3, 3, 3, 3, None, 3, 3]
        assert batch.valid.tolist() == [True] * 5 + [False] + [True] * 2
        assert isinstance(batch.errors[5], EnvironmentFailed)
        assert "the soldier fell" in str(batch.errors[5])
        assert batch.stacked["step"].tolist() == [3, 3, 3, 3, 3, 0, 3, 3]
        assert look(await ask(pool.step(["go"] * 8)), "step") == [4, 4, 4, 4, 4, 3, 4, 4]
        await ask(pool.reset(slots=[5]))
        assert look(await ask(pool.step(["go"] * 8)), "step") == [5, 5, 5, 5, 5, 1, 5, 5]
        assert (pool.metrics.failures, pool.metrics.faults) == (1, 0)

    play.run(talk, size=8)


def test_an_invalid_action_is_its_slots_error(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        batch = await ask(pool.step(["go", {"order": 7}, {"ordre": "go"}, "go"]))
        assert batch.valid.tolist() == [True, False, False, True]
        assert all(isinstance(batch.errors[row], InvalidRequest) for row in (1, 2))
        assert look(await ask(pool.step(["go"] * 4)), "step") == [2, 1, 1, 2]

    play.run(talk)


def test_a_process_that_dies_is_replaced_by_the_next_call(
    colour: str, protocol: str | None
) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        first = await ask(pool.reset())
        batch = await ask(pool.step(["go", "die", "go"]))
        assert batch.valid.tolist() == [True, False, True]
        assert isinstance(batch.errors[1], HostCrashed)
        batch = await ask(pool.step(["go"] * 3))
        assert look(batch, "step") == [2, 0, 2]
        assert batch.began.tolist() == [False, True, False]
        assert batch.rewards.tolist() == [2.0, 0.0, 2.0]
        assert look(batch, "session")[1] != look(first, "session")[1]
        metrics = pool.metrics
        assert (metrics.faults, metrics.lost, metrics.restarts) == (1, 1, 1)

    with serving(Soldier, max_concurrent_envs=3, host_kind="process") as served:
        Play(colour, f"http://127.0.0.1:{served.port}", protocol).run(talk, size=3)


@pytest.mark.parametrize("whose", ["server", "client"])
def test_a_step_that_takes_too_long_is_one_slots_fault(
    colour: str, protocol: str | None, whose: str, tmp_path: Path
) -> None:
    limits = Limits(capacity=8, step_timeout=0.3 if whose == "server" else 60.0)

    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        batch = await ask(pool.step(["go", f"stay {tmp_path}/1", "go"]))
        (tmp_path / "go").touch()
        assert batch.valid.tolist() == [True, False, True]
        assert isinstance(batch.errors[1], StepTimeout | ReplyTimeout)
        batch = await ask(pool.step(["go"] * 3))
        assert look(batch, "step") == [2, 0, 2]

    with serving(Soldier, limits=limits) as served:
        timeout_s = 0.3 if whose == "client" else 10.0
        play = Play(colour, f"http://127.0.0.1:{served.port}", protocol)
        play.run(talk, size=3, timeout_s=timeout_s)


def test_a_full_server_has_a_slot_again_for_the_session_that_was_lost(
    colour: str, protocol: str | None, tmp_path: Path
) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        for mark in range(3):
            batch = await ask(pool.step(["go", f"stay {tmp_path}/{mark}"]))
            assert batch.valid.tolist() == [True, False]
            (tmp_path / "go").touch()
            assert (await ask(pool.step(["go"] * 2))).valid.all()
            (tmp_path / "go").unlink()

    with serving(Soldier, max_concurrent_envs=2) as served:
        play = Play(colour, f"http://127.0.0.1:{served.port}", protocol)
        play.run(talk, size=2, timeout_s=0.2)


@contextmanager
def soldiers_in_a_process(port: int = 0) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A server that can be killed."""
    target = f"{Path(__file__).with_name('worlds.py')}:Soldier"
    command = [sys.executable, "-m", "openenv.cli", "serve", target, "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            lines = [process.stderr.readline()]
            while not (found := re.search(r"on (http://\S+)", lines[-1])):
                assert lines[-1], "".join(lines)
                lines.append(process.stderr.readline())
            yield found[1], process
        finally:
            process.kill()


def test_a_server_that_is_killed_during_steps_and_comes_back(
    colour: str, protocol: str | None, tmp_path: Path
) -> None:
    told = SessionLost if protocol == "v1" else ConnectFailed  # v2 would have come back to it

    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await ask(pool.step(["go"] * 8))
        orders = [f"stay {tmp_path}/{slot}" for slot in range(8)]
        await ask(pool.send(orders, range(8)))
        await until(colour, lambda: all((tmp_path / str(slot)).exists() for slot in range(8)))
        process.send_signal(signal.SIGKILL)
        batch = await ask(pool.recv(timeout_s=8))
        assert len(batch) == 8
        assert {type(error) for error in batch.errors} == {told}
        assert (pool.metrics.faults, pool.metrics.lost) == (8, 8)
        process.wait()
        batch = await ask(pool.step(["go"] * 8))
        assert {type(error) for error in batch.errors} == {ConnectFailed}
        with soldiers_in_a_process(int(url.rpartition(":")[2])):
            batch = await ask(pool.step(["go"] * 8))
            assert batch.valid.all()
            assert batch.began.all()
            assert look(await ask(pool.step(["go"] * 8)), "step") == [1] * 8
            metrics = pool.metrics
            assert (metrics.lost, metrics.restarts, metrics.faults) == (8, 8, 16)
            await ask(pool.close())

    with soldiers_in_a_process() as (url, process):
        Play(colour, url, protocol).run(talk, size=8)
