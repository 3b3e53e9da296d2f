"""Flows: generators of effects, driven blocking or awaiting."""

import asyncio
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from openenv._flow import Flow, adrive, drive

Drive = Callable[[Flow[Any, Any], Callable[[Any], object]], Any]


def driven_awaiting(flow: Flow[Any, Any], perform: Callable[[Any], object]) -> Any:
    """`adrive` without an event loop: nothing here really waits."""

    async def aperform(effect: Any) -> object:
        return perform(effect)

    task = adrive(flow, aperform)
    try:
        task.send(None)
    except StopIteration as stop:
        return stop.value
    finally:
        task.close()
    raise AssertionError("the flow waited for something")


@pytest.fixture(params=[drive, driven_awaiting], ids=["drive", "adrive"])
def run(request: pytest.FixtureRequest) -> Iterator[Drive]:
    yield request.param


def test_effects_give_values_and_a_flow_its_result(run: Drive) -> None:
    def flow() -> Flow[int, int]:
        first = yield 1
        second = yield first + 1
        return int(second * 10)

    assert run(flow(), lambda effect: effect * 2) == 60


def test_a_flow_without_effects(run: Drive) -> None:
    def flow() -> Flow[int, str]:
        return "done"
        yield

    assert run(flow(), pytest.fail) == "done"


@pytest.mark.parametrize("error", [ValueError("x"), asyncio.TimeoutError()])
def test_a_flow_may_handle_what_an_effect_raises(run: Drive, error: Exception) -> None:
    def flow() -> Flow[str, object]:
        try:
            yield "bad"
        except type(error) as caught:
            return (yield "good"), caught
        return None

    def perform(effect: str) -> object:
        if effect == "bad":
            raise error
        return effect

    assert run(flow(), perform) == ("good", error)


def test_an_effect_may_raise_what_ends_generators() -> None:
    """`next()` on something exhausted is an ordinary mistake of an author."""

    def flow() -> Flow[str, str]:
        try:
            yield "bad"
        except StopIteration as caught:
            return str(caught.value)
        return "nothing raised"

    def perform(effect: str) -> object:
        raise StopIteration(effect)

    assert drive(flow(), perform) == "bad"


def test_an_unhandled_error_comes_out_after_the_flows_finally(run: Drive) -> None:
    seen = []

    def flow() -> Flow[str, None]:
        try:
            yield "bad"
        finally:
            seen.append("finally")

    def perform(effect: str) -> object:
        raise ValueError(effect)

    with pytest.raises(ValueError, match="bad"):
        run(flow(), perform)
    assert seen == ["finally"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError, SystemExit])
def test_what_is_no_exception_closes_the_flow(run: Drive, error: type[BaseException]) -> None:
    seen = []

    def flow() -> Flow[str, None]:
        try:
            yield "bad"
        except Exception:  # noqa: BLE001  # it must not come here
            seen.append("caught")
        finally:
            seen.append("finally")

    def perform(effect: str) -> object:
        raise error

    with pytest.raises(error):
        run(flow(), perform)
    assert seen == ["finally"]


def test_a_flows_own_error_comes_out(run: Drive) -> None:
    def flow() -> Flow[str, None]:
        yield "fine"
        raise LookupError("own")

    with pytest.raises(LookupError, match="own"):
        run(flow(), lambda effect: effect)


def test_an_interrupted_awaiting_drive_closes_the_flow() -> None:
    seen = []

    def flow() -> Flow[str, None]:
        try:
            yield "long"
        finally:
            seen.append("finally")

    class Never:
        def __await__(self) -> Generator[None, None, None]:
            yield

    async def perform(effect: str) -> None:
        await Never()

    task = adrive(flow(), perform)
    task.send(None)
    task.close()
    assert seen == ["finally"]
