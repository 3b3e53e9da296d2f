"""The pipe on which a child process prints."""

import asyncio
import os

import pytest

from openenv.runtime.stderr import SHOWN_BYTES, TAIL_BYTES, Stderr

uvloop = pytest.importorskip("uvloop")


def test_a_start_that_is_given_up_leaves_no_stray_descriptor() -> None:
    async def give_up() -> list[int]:
        descriptors = []
        for _ in range(5):
            stderr = Stderr("a child")
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


async def test_what_is_printed_without_end_is_shown_up_to_a_limit_and_its_end_is_kept(
    capfd: pytest.CaptureFixture[str],
) -> None:
    stderr = Stderr("session 7")
    child = os.dup(stderr.child_end)
    await stderr.open()

    def print_without_end() -> None:
        with open(child, "wb") as pipe:
            for _ in range(3):
                pipe.write(b"x" * SHOWN_BYTES)
            pipe.write(b"the end")

    await asyncio.to_thread(print_without_end)
    await stderr.close()
    shown = capfd.readouterr().err
    assert shown.count("x") == SHOWN_BYTES
    assert shown.endswith("\nopenenv: … more output of session 7 is dropped\n")
    assert shown.count("dropped") == 1
    assert len(stderr.tail) == TAIL_BYTES
    assert stderr.tail.endswith("xxthe end")
