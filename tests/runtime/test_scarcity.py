"""Where descriptors are scarce: sessions that cannot be are refused, and leave nothing open."""

import asyncio
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from openenv.protocol.errors import SessionCreationError
from tests.runtime.seats import serving, step, until
from tests.runtime.test_zygote import zygote_of
from tests.runtime.worlds import World


@contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Within, this process can open no more than so many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 64, hard))
    held: list[int] = []
    try:
        with suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(free):
            os.close(held.pop())
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_no_more_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with serving(World, "process", capacity=500) as sessions:
        await sessions.open()
        now = len(os.listdir("/proc/self/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (now + 12, hard))
        try:
            with pytest.raises(SessionCreationError, match="Too many open files"):
                for _ in range(20):
                    await sessions.open()
            taken = sessions.active
            await until(lambda: sessions.active < taken or sessions.active <= 12)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert (await step(await sessions.open(), "echo", 1)).value == 1


async def test_a_session_for_which_there_are_no_descriptors_leaves_none() -> None:
    async with serving(World, "process") as sessions:
        await (await sessions.open()).close()
        before = len(os.listdir("/proc/self/fd"))
        for free in range(10):
            with few_descriptors(free), suppress(SessionCreationError):
                await sessions.open()
            await asyncio.gather(*(seat.close() for seat in list(sessions._seats)))
            assert len(os.listdir("/proc/self/fd")) == before


async def test_nothing_is_left_open_by_sessions_that_come_and_go() -> None:
    async with serving(World, "process") as sessions:
        await (await sessions.open()).close()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            await (await sessions.open()).close()
        assert len(os.listdir("/proc/self/fd")) == before
        assert len(os.listdir(f"/proc/{zygote_of(sessions)}/fd")) < 10
