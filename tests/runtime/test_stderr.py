"""The pipe on which a child process prints."""

import asyncio
import os

import pytest

from openenv.runtime.stderr import Stderr

uvloop = pytest.importorskip("uvloop")


def test_a_start_that_is_given_up_leaves_no_stray_descriptor() -> None:
    async def give_up() -> list[int]:
        descriptors = []
        for _ in range(5):
            stderr = Stderr()
            descriptors.append(stderr._own_end)
            opening = asyncio.ensure_future(stderr.open())
            await asyncio.sleep(0)
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
            await stderr.close()
            await asyncio.sleep(0.01)
        return descriptors

    for descriptor in set(uvloop.run(give_up())):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)
