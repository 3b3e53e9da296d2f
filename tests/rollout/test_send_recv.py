"""Steps that are sent, and results that are taken as they come."""

import asyncio
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from openenv import ConcurrentCall, ConfigurationError
from tests.client.ways import Ask
from tests.rollout.playing import Play, look
from tests.serving import eventually


def test_the_fast_do_not_wait_for_the_slow(play: Play, tmp_path: Path) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await ask(pool.send(["go", f"stay {tmp_path}/2", "go"], [0, 2, 3]))
        batch = await ask(pool.recv(2))
        assert sorted(batch.slots) == [0, 3]
        await ask(pool.send(["go", "go"], [3, 1]))
        assert sorted((await ask(pool.recv(min_ready=2))).slots) == [1, 3]
        assert pool.metrics.waiting == 1
        (tmp_path / "go").touch()
        batch = await ask(pool.recv())
        assert (batch.slots.tolist(), look(batch, "word")) == ([2], ["stay"])
        assert look(await ask(pool.step(["go"] * 4)), "step") == [2, 2, 2, 3]

    play.run(talk)


def test_waiting_has_an_end(play: Play, tmp_path: Path) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await ask(pool.send([f"stay {tmp_path}/0", "go"], [0, 1]))
        assert (await ask(pool.recv(1))).slots.tolist() == [1]
        batch = await ask(pool.recv(timeout_s=0.05))
        assert (len(batch), batch.rewards.shape, batch.stacked) == (0, (0,), {})
        (tmp_path / "go").touch()
        assert (await ask(pool.recv(timeout_s=10))).slots.tolist() == [0]

    play.run(talk)


def test_a_slot_with_a_step_outstanding_takes_no_other(play: Play, tmp_path: Path) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await ask(pool.send([f"stay {tmp_path}/3", "go"], [3, 1]))
        with pytest.raises(ConcurrentCall, match=r"slots \[1, 3\] .* outstanding"):
            await ask(pool.step(["go"] * 4))
        with pytest.raises(ConcurrentCall, match=r"slots \[3\]"):
            await ask(pool.send(["go", "go"], [0, 3]))
        assert look(await ask(pool.step(["go"] * 2, slots=[0, 2])), "step") == [1, 1]
        (tmp_path / "go").touch()
        await ask(pool.recv())
        assert look(await ask(pool.step(["go"] * 4)), "step") == [2, 2, 2, 2]
        with pytest.raises(ConfigurationError, match="send"):
            await ask(pool.recv())

    play.run(talk)


def test_a_reset_drops_what_is_outstanding(play: Play, tmp_path: Path) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        sessions = look(await ask(pool.reset()), "session")
        await ask(pool.send([f"stay {tmp_path}/0", "go"], [0, 1]))
        threading.Timer(0.05, (tmp_path / "go").touch).start()
        batch = await ask(pool.reset())
        assert look(batch, "step") == [0] * 4
        assert look(batch, "session") == sessions
        assert pool.metrics.waiting == 0

    play.run(talk)


def test_ctrl_c_leaves_the_steps_outstanding(play: Play, tmp_path: Path) -> None:
    if play.colour == "awaiting":
        pytest.skip("a loop's own affair")

    def interrupt() -> None:
        eventually((tmp_path / "2").exists)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with play.pool() as pool:
        pool.reset()
        for word in ("step", "recv"):
            sender = threading.Thread(target=interrupt)
            with pytest.raises(KeyboardInterrupt):
                sender.start()
                if word == "step":
                    pool.step(["go", "go", f"stay {tmp_path}/2", "go"])
                else:
                    pool.recv()
            sender.join()
        with pytest.raises(ConcurrentCall, match=r"\[0, 1, 2, 3\]"):
            pool.step(["go"] * 4)
        (tmp_path / "go").touch()
        batch = pool.recv()
        assert sorted(batch.slots) == [0, 1, 2, 3]
        assert batch.rewards.tolist() == [1.0] * 4
        assert look(pool.step(["go"] * 4), "step") == [2] * 4


async def test_a_cancelled_step_stays_outstanding(url: str, tmp_path: Path) -> None:
    async with Play("awaiting", url).pool() as pool:
        await pool.reset()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(pool.step(["go", f"stay {tmp_path}/1", "go", "go"]), 0.1)
        (tmp_path / "go").touch()
        assert sorted((await pool.recv()).slots) == [0, 1, 2, 3]
        assert look(await pool.step(["go"] * 4), "step") == [2] * 4


async def test_two_calls_at_once_on_different_slots(url: str, tmp_path: Path) -> None:
    async with Play("awaiting", url).pool() as pool:
        await pool.reset()
        await pool.send(["sent"], [0])
        stepping = asyncio.ensure_future(pool.step([f"stay {tmp_path}/1", "b"], slots=[1, 2]))
        receiving = await pool.recv()
        assert look(receiving, "word") == ["sent"]
        with pytest.raises(ConcurrentCall, match=r"\[1\]"):
            await pool.reset(slots=[0, 1])
        (tmp_path / "go").touch()
        assert look(await stepping, "word") == ["stay", "b"]
