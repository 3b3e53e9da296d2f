"""The event loop of an environment of tools, and how it ends."""

import gc

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
