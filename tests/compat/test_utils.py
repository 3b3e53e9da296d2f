"""Small things that existing packages import from `openenv.core.utils`."""

import asyncio

import pytest

from openenv.core.utils import convert_to_ws_url, run_async_safely


async def double(number: int) -> int:
    await asyncio.sleep(0)
    if number < 0:
        raise ValueError("negative")
    return number * 2


def test_a_coroutine_from_blocking_code() -> None:
    assert run_async_safely(double(2)) == 4
    with pytest.raises(ValueError, match="negative"):
        run_async_safely(double(-1))


async def test_a_coroutine_from_blocking_code_on_a_loop() -> None:
    assert run_async_safely(double(2)) == 4
    with pytest.raises(ValueError, match="negative"):
        run_async_safely(double(-1))


@pytest.mark.parametrize(
    ("url", "ws_url"),
    [
        ("http://host:8000", "ws://host:8000"),
        ("http://host:8000/", "ws://host:8000"),
        ("https://host/path/", "wss://host/path"),
        ("ws://host", "ws://host"),
        ("wss://host/", "wss://host"),
        ("host:8000", "ws://host:8000"),
    ],
)
def test_addresses(url: str, ws_url: str) -> None:
    assert convert_to_ws_url(url) == ws_url
