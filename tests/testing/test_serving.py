"""`serving`: an application on a port for as long as a block runs."""

import threading
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from openenv import create_app
from openenv.testing import Add, Counting, CountingClient, serving


def test_an_application_is_served_until_the_block_ends() -> None:
    with serving(create_app(Counting)) as url, CountingClient(base_url=url).sync() as env:
        env.reset(seed=10)
        assert env.step(Add(amount=5)).observation.count == 15
    assert "openenv-serving" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(URLError):
        urlopen(f"{url}/health", timeout=5)


def test_it_ends_when_the_block_fails() -> None:
    with pytest.raises(ZeroDivisionError), serving(create_app(Counting)):
        raise ZeroDivisionError
    assert "openenv-serving" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.expects_error_log
def test_an_application_that_does_not_start_is_told() -> None:
    async def broken(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no game today"})

    with pytest.raises(RuntimeError, match="ended while it started"), serving(broken):
        raise AssertionError("it must not start")
