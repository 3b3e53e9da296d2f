"""What a pool holds, and that all of it is given back."""

import asyncio
import gc
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from openenv import ConfigurationError, ModeError, SessionLost
from openenv.rollout.pool import EnvPool
from tests.client.ways import Ask
from tests.rollout.playing import Play, look, until
from tests.rollout.worlds import Soldier, SoldierClient
from tests.serving import Served, eventually, serving

ROOT = Path(__file__).parents[2]


class SlowToClose(Soldier):
    """Takes its time to close."""

    closed = 0

    def close(self) -> None:
        time.sleep(0.2)
        SlowToClose.closed += 1


def pool_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "openenv-pool"]


def test_close_frees_every_slot_before_it_returns(play: Play, soldiers: Served) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        assert soldiers.openenv.active_sessions == 8
        await ask(pool.close())
        assert soldiers.openenv.active_sessions == 0
        await ask(pool.close())

    for _ in range(5):
        play.run(talk, size=8)
    assert pool_threads() == []


def test_close_waits_for_environments_that_take_their_time(colour: str) -> None:
    with serving(SlowToClose) as served:
        before = SlowToClose.closed

        async def talk(pool: Any, ask: Ask) -> None:
            await ask(pool.reset())
            await ask(pool.close())
            assert SlowToClose.closed == before + 4
            assert served.openenv.active_sessions == 0

        Play(colour, f"http://127.0.0.1:{served.port}").run(talk)


def test_close_frees_slots_whose_steps_are_running(
    play: Play, soldiers: Served, tmp_path: Path
) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await ask(pool.send([f"stay {tmp_path}/0", "go"], [0, 1]))
        await until(play.colour, (tmp_path / "0").exists)
        threading.Timer(0.1, (tmp_path / "go").touch).start()
        await ask(pool.close())
        assert soldiers.openenv.active_sessions == 0

    play.run(talk)


def test_a_closed_pool_says_so(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await ask(pool.close())
        for call in (pool.reset, pool.recv, lambda: pool.step(["go"] * 4)):
            with pytest.raises(SessionLost, match="closed; make another"):
                await ask(call())

    play.run(talk)


def test_a_pool_that_was_never_used_closes_too(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.close())
        with pytest.raises(SessionLost):
            await ask(pool.reset())

    play.run(talk)
    assert pool_threads() == []


def test_close_in_another_thread_tells_the_call_that_waits(url: str, tmp_path: Path) -> None:
    pool = Play("blocking", url).pool()
    pool.reset()
    told: list[BaseException] = []

    def step() -> None:
        try:
            pool.step(["go", "go", f"stay {tmp_path}/2", "go"])
        except SessionLost as error:
            told.append(error)

    waiting = threading.Thread(target=step)
    waiting.start()
    eventually((tmp_path / "2").exists)
    closing = threading.Thread(target=pool.close)
    closing.start()
    waiting.join()
    (tmp_path / "go").touch()
    closing.join()
    assert "closed" in str(told[0])


def test_a_pool_that_is_let_go_of_frees_its_slots_and_its_thread(
    url: str, soldiers: Served
) -> None:
    pool = Play("blocking", url).pool()
    pool.reset()
    assert len(pool_threads()) == 1
    del pool
    gc.collect()
    assert pool_threads() == []
    eventually(lambda: soldiers.openenv.active_sessions == 0)


async def test_an_awaiting_pool_that_is_let_go_of_frees_its_slots(
    url: str, soldiers: Served
) -> None:
    pool = Play("awaiting", url).pool()
    await pool.reset()
    del pool
    gc.collect()
    await until("awaiting", lambda: soldiers.openenv.active_sessions == 0)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_awaiting_pool_stays_in_its_loop(url: str, protocol: str | None) -> None:
    pool = Play("awaiting", url, protocol).pool()

    async def twice() -> None:
        await pool.reset()
        await pool.step(["go"] * 4)

    async def again() -> None:
        with pytest.raises(ModeError, match="another"):
            await pool.step(["go"] * 4)

    async def end() -> None:
        await pool.close()

    asyncio.run(twice())
    asyncio.run(again())
    asyncio.run(end())
    gc.collect()


def test_the_interpreter_ends_without_a_close(url: str, soldiers: Served) -> None:
    code = dedent(f"""
        from openenv.rollout.pool import EnvPool

        pool = EnvPool({url!r}, 4)
        pool.reset()
        pool.send([{{"order": "go"}}], [0])
        print("played")
    """)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "played\n", "")
    eventually(lambda: soldiers.openenv.active_sessions == 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_after_a_fork_the_pool_stays_with_its_parent(url: str, soldiers: Served) -> None:
    with Play("blocking", url).pool() as pool:
        pool.reset()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                try:
                    pool.step(["go"] * 4)
                except ConfigurationError as error:
                    code = 0 if "forked" in str(error) else 2
                pool.close()
                del pool
                gc.collect()
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert soldiers.openenv.active_sessions == 4
        assert look(pool.step(["go"] * 4), "step") == [1] * 4


def test_a_pool_does_not_travel() -> None:
    with pytest.raises(TypeError, match="make one in each"):
        pickle.dumps(EnvPool("http://localhost", 2, SoldierClient))


def test_close_does_not_wait_for_a_server_that_does_not_answer() -> None:
    told: list[BaseException] = []

    def reset() -> None:
        try:
            pool.reset()
        except SessionLost as error:
            told.append(error)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        pool = Play("blocking", f"http://127.0.0.1:{silent.getsockname()[1]}").pool()
        resetting = threading.Thread(target=reset)
        resetting.start()
        connection, _ = silent.accept()
        pool.close()
        resetting.join()
        connection.close()
    assert "closed" in str(told[0])
