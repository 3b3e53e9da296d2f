"""The event loop of an environment of tools, and how it ends."""

import gc
import threading
from typing import NoReturn

import pytest

from openenv.env.own_loop import OwnLoop


async def answer() -> int:
    return 42


def test_a_farewell_that_fails_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def goodbye() -> None:
        raise ConnectionError("the line is dead")

    loop = OwnLoop("test-own-loop")
    assert loop.run(answer()) == 42
    loop.close(goodbye)
    gc.collect()
    (record,) = caplog.records
    assert (record.levelname, "the line is dead" in record.getMessage()) == ("WARNING", True)
    with pytest.raises(RuntimeError, match="closed"):
        loop.run(answer())


def test_a_thread_that_cannot_begin_is_told_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_threads(thread: threading.Thread) -> NoReturn:
        raise RuntimeError("can't start new thread")

    loop = OwnLoop("test-own-loop")
    with monkeypatch.context() as scarce:
        scarce.setattr(threading.Thread, "start", no_threads)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="can't start"):
                loop.run(answer(), 5)
    assert loop.run(answer()) == 42
    loop.close()
