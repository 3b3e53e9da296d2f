"""Event loops in threads of their own, where there may be nothing left to make one of."""

import asyncio
import errno
from typing import Any, NoReturn

import pytest

from openenv.rollout import background
from openenv.rollout.background import Background
from openenv.rubrics import blocking


def no_descriptors(*args: Any, **options: Any) -> NoReturn:
    raise OSError(errno.EMFILE, "Too many open files")


async def goodbye() -> None: ...


async def answer() -> int:
    return 42


def test_a_loop_that_cannot_begin_is_told_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Background(goodbye)
    with monkeypatch.context() as scarce:
        scarce.setattr(background, "_run", no_descriptors)
        for _ in range(2):
            with pytest.raises(OSError, match="Too many open files"):
                pool.run(answer())
        pool.stop()
    assert pool.run(answer()) == 42
    pool.close()
    assert pool.run(answer()) == 42  # on another loop
    pool.close()


def test_so_is_that_of_rubrics(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in blocking._loops:
        each.stop()
    with monkeypatch.context() as scarce:
        scarce.setattr(asyncio, "new_event_loop", no_descriptors)
        scarce.setattr(asyncio.events, "new_event_loop", no_descriptors)
        pending = answer()
        with pytest.raises(OSError, match="Too many open files"):
            blocking.awaited(pending)
        pending.close()
    assert blocking.awaited(answer()) == 42
