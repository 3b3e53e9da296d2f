"""What a seat makes of a host that breaks its promises."""

import asyncio
import json
import logging

import pytest

from openenv.env.spec import EnvSpec
from openenv.protocol.errors import EnvironmentFailed, HostCrashed, SessionCreationError
from openenv.protocol.messages import Reply, Request
from openenv.runtime.host import Host, InlineHost, session_factory
from openenv.runtime.limits import Limits
from openenv.runtime.seat import Seat
from openenv.runtime.terms import Terms
from tests.runtime.seats import ask, until
from tests.runtime.worlds import World


class BadHost(Host):
    """Fails in the way that it is told, at once or later."""

    def __init__(self, error: BaseException, *, later: bool = False) -> None:
        self.error = error
        self.later = later
        self.closed = 0

    async def start(self) -> None:
        if isinstance(self.error, OSError):
            raise self.error

    def serve(self, request: Request) -> Reply | asyncio.Future[Reply]:
        if not self.later:
            raise self.error
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        future.set_exception(self.error)
        return future

    def interrupt(self) -> None:
        raise AssertionError("no tool is called")

    async def close(self) -> None:
        self.closed += 1
        raise RuntimeError("closing fails too")


class Patient(BadHost):
    """Never answers."""

    def __init__(self) -> None:
        super().__init__(ValueError())

    def serve(self, request: Request) -> asyncio.Future[Reply]:
        return asyncio.get_running_loop().create_future()

    async def close(self) -> None:
        """Closes well."""


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of warning about sessions, but those about their ends."""
    records = [r for r in caplog.records if r.name == "openenv.sessions"]
    assert {r.levelno for r in records} == {logging.WARNING}
    return [r.getMessage() for r in records if "closing" not in r.getMessage()]


def seat_on(host: Host, ended: list[Seat]) -> Seat:
    limits = Limits(close_grace=5)
    return Seat("s", host, Terms(limits), attached=False, on_end=ended.append)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("error", "code", "ends"),
    [
        (EnvironmentFailed("x"), "EXECUTION_ERROR", False),
        (HostCrashed("x"), "HOST_CRASHED", True),
        pytest.param(
            ValueError("a mistake of ours"),
            "SESSION_ERROR",
            True,
            marks=pytest.mark.expects_error_log,
        ),
    ],
    ids=["typed", "crashed", "unexpected"],
)
async def test_every_failure_is_answered(
    error: Exception, code: str, ends: bool, later: bool
) -> None:
    ended: list[Seat] = []
    host = BadHost(error, later=later)
    seat = seat_on(host, ended)
    await seat.start()
    answer = await ask(seat, "step")
    assert (answer.code, answer.ends_session) == (code, ends)
    if ends:
        await until(lambda: ended == [seat])
    assert seat.is_open is not ends
    await seat.close()
    assert (ended, host.closed) == ([seat], 1)


async def test_a_crash_is_logged_in_a_line(caplog: pytest.LogCaptureFixture) -> None:
    seat = seat_on(BadHost(HostCrashed("it died (exit code 7)")), [])
    await seat.start()
    await ask(seat, "step")
    assert said(caplog) == ["session s failed: it died (exit code 7) (code: HOST_CRASHED)"]
    await seat.close()


async def test_a_call_that_takes_too_long_is_logged_in_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seat = seat_on(Patient(), [])
    await seat.start()
    assert (await ask(seat, "step", timeout_s=0.01)).code == "STEP_TIMEOUT"
    (line,) = said(caplog)
    assert line.startswith("session s failed: the environment ran longer than 0.01 s")
    await seat.close()


async def test_who_is_cancelled_as_the_host_starts_has_no_session() -> None:
    ended: list[Seat] = []

    class Meeting(Patient):
        async def start(self) -> None:
            opening.cancel()

    opening = asyncio.ensure_future(seat_on(Meeting(), ended).start())
    await asyncio.wait([opening])
    assert opening.cancelled()
    await until(lambda: len(ended) == 1)


async def test_a_host_that_cannot_start() -> None:
    ended: list[Seat] = []
    host = BadHost(OSError("no room"))
    with pytest.raises(SessionCreationError, match="OSError: no room"):
        await seat_on(host, ended).start()
    await until(lambda: len(ended) == 1)


async def test_a_closed_host_says_so() -> None:
    host = InlineHost(session_factory(EnvSpec.of(World), tracebacks=False))
    await host.start()
    await host.close()
    with pytest.raises(HostCrashed, match="was closed"):
        host.serve(Request("state"))
    await host.close()


async def test_calls_are_answered_in_turn() -> None:
    seat = seat_on(InlineHost(session_factory(EnvSpec.of(World), tracebacks=False)), [])
    await seat.start()
    replies: list[Reply] = []
    for n in range(3):
        seat.serve(Request("step", {"what": "echo", "arg": n}), replies.append)
    assert [json.loads(r.body)["observation"]["value"] for r in replies] == [0, 1, 2]
    await seat.close()
