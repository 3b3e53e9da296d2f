"""What is told of the exceptions of an author's code."""

import asyncio
import types
from collections.abc import Generator
from typing import Any

import pytest

from openenv.env.environment import HostKind
from openenv.protocol.saying import MAX_TEXT, authors_traceback, in_full, text_of
from openenv.runtime.faults import contained
from tests.runtime.seats import serving, step
from tests.runtime.worlds import AsyncWorld


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such card"), "no such card"),
        (ValueError(), "ValueError"),
        (KeyError("card"), "KeyError: 'card'"),
        (Unprintable(), "Unprintable"),
    ],
)
def test_it_is_never_less_than_one_can_act_on(error: Exception, text: str) -> None:
    assert text_of(error) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("card"), "KeyError: 'card'"),  # and not its kind twice
        (ValueError("\ud800" * 100_000), "ValueError: " + "\\ud800" * MAX_TEXT),
        (Unprintable(), "Unprintable: "),
    ],
    ids=["key", "long", "unprintable"],
)
def test_in_full_it_has_its_kind_once_and_is_never_without_end(error: Exception, text: str) -> None:
    assert in_full(error) == text


def test_a_traceback_is_never_without_end_either() -> None:
    trace = authors_traceback(ValueError("\ud800" * 100_000))
    told = "\\ud800" * (MAX_TEXT - len("ValueError: "))
    assert trace == f"ValueError: {told}… and 34477 characters more\n"


KINDS: list[HostKind] = ["inline", "thread", "process"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["exit", "fatal", "generator"])
async def test_whatever_an_async_environment_raises_its_session_lives(
    kind: HostKind, what: str
) -> None:
    async with serving(AsyncWorld, kind) as sessions:
        seat = await sessions.open()
        assert (await step(seat, "fail_badly", what)).code == "EXECUTION_ERROR"
        assert (await step(seat, "echo", 1)).value == 1


@types.coroutine
def _paused() -> Generator[None, None, None]:
    yield


def test_a_call_that_is_closed_while_it_awaits_just_ends() -> None:
    left: list[str] = []

    async def awaiting() -> None:
        try:
            await _paused()
        finally:
            left.append("left")

    pending: Any = contained(awaiting)
    pending.send(None)
    pending.close()
    assert left == ["left"]


async def test_a_call_that_is_cancelled_stays_so() -> None:
    async def awaiting() -> None:
        await asyncio.sleep(600)

    pending: Any = contained(awaiting)
    task = asyncio.ensure_future(pending)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
