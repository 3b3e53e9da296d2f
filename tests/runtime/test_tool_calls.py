"""Tools of sessions: the same on every host; what hangs is given up, and the session lives."""

import asyncio
import json
import logging
from typing import Any

import pytest

from openenv.env.environment import HostKind
from openenv.protocol.messages import Request
from openenv.protocol.wire import ServerMode
from openenv.runtime.seat import Seat
from tests.runtime.seats import Answer, ask, serving, until
from tests.runtime.tool_worlds import Tools

HOSTS: list[HostKind] = ["inline", "thread", "process", "sandbox"]
LONG_S = 600.0

pytestmark = pytest.mark.parametrize("kind", HOSTS)


async def call(seat: Seat, name: str, timeout_s: float | None = None, **arguments: Any) -> Answer:
    return await ask(seat, "call_tool", {"tool_name": name, "arguments": arguments}, timeout_s)


def result(answer: Answer) -> Any:
    assert answer.type == "observation", answer
    assert answer.data["observation"]["error"] is None, answer
    return answer.data["observation"]["result"]["data"]


def error(answer: Answer) -> tuple[str, str]:
    assert answer.type == "observation", answer
    told = answer.data["observation"]["error"]
    return told["error_type"], told["message"]


async def opened(sessions: Any) -> Seat:
    seat: Seat = await sessions.open()
    await ask(seat, "reset")
    return seat


async def test_lists_and_calls(kind: HostKind) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        listed = (await ask(seat, "list_tools")).data["observation"]["tools"]
        assert [t["name"] for t in listed][:3] == ["add", "increment", "finish"]
        assert result(await call(seat, "add", a=2)) == 3
        assert result(await call(seat, "increment")) == 1
        assert result(await call(seat, "increment")) == 2
        assert (await ask(seat, "state")).data["step_count"] == 3
        done = await call(seat, "finish")
        assert (done.data["reward"], done.data["done"]) == (0.5, True)
        assert done.data["metadata"] == {"why": "asked"}
        assert (await call(seat, "add", a=2)).code == "RESET_REQUIRED"


async def test_a_step_may_be_a_call(kind: HostKind) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        called = await ask(
            seat, "step", {"type": "call_tool", "tool_name": "add", "arguments": {"a": 1}}
        )
        assert result(called) == 2
        listed = await ask(seat, "step", {"type": "list_tools"})
        assert listed.data == (await ask(seat, "list_tools")).data


async def test_errors_are_told_and_the_session_lives(kind: HostKind) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        assert error(await call(seat, "nothing"))[0] == "tool_not_found"
        assert error(await call(seat, "reset"))[0] == "tool_not_found"
        kind_of, text = error(await call(seat, "add", a="x", c=1))
        assert kind_of == "invalid_args"
        assert "a: " in text
        assert "c: " in text
        assert error(await call(seat, "refuse")) == ("execution_error", "not today")
        assert error(await call(seat, "fail"))[1] == "ValueError: could not open /srv/keys"
        assert error(await call(seat, "exit"))[0] == "execution_error"
        assert result(await call(seat, "speak")) == "spoken"
        assert (await ask(seat, "call_tool", {"arguments": {}})).code == "VALIDATION_ERROR"
        assert result(await call(seat, "add", a=2)) == 3


async def test_in_production_only_a_number_is_told(
    kind: HostKind, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        sessions.hosts.turn_to(ServerMode.PRODUCTION)
        seat = await opened(sessions)
        assert result(await call(seat, "who")) == "agent"
        assert error(await call(seat, "refuse")) == ("execution_error", "not today")
        _, text = error(await call(seat, "fail"))
        assert "/srv/keys" not in text
        number = text.rpartition(" ")[2]
        logged = caplog.text  # a process logs to its stderr, which is the server's own

        def is_told() -> bool:
            nonlocal logged
            logged += capfd.readouterr().err
            return number in logged and "/srv/keys" in logged

        await until(is_told)


async def test_tools_of_the_other_mode_are_not_there(kind: HostKind) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        assert result(await call(seat, "who")) == "trainer"


@pytest.mark.parametrize("name", ["tell", "tell_blocking"])
async def test_progress_comes_before_the_result(kind: HostKind, name: str) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        heard: list[Any] = []
        request = Request(
            "call_tool",
            {"tool_name": name, "arguments": {"times": 3}},
            emit=lambda event: heard.append(json.loads(event)),
        )
        await seat.ask(request)
        assert [event["progress"] for event in heard] == [1, 2, 3]
        assert {event["total"] for event in heard} == {3}


@pytest.mark.parametrize("name", ["wait", "spin"])
async def test_what_hangs_is_interrupted(kind: HostKind, name: str) -> None:
    async with serving(Tools, kind, typed=False, tool_timeout=0.3) as sessions:
        seat = await opened(sessions)
        assert result(await call(seat, "increment")) == 1
        told = error(await call(seat, name, seconds=LONG_S))
        assert told == ("timeout", f"tool {name!r} timed out after 0.3 s")
        assert result(await call(seat, "increment", timeout_s=30.0)) == 2
        assert seat.is_open


async def test_a_sleep_is_answered_and_waited_for(kind: HostKind) -> None:
    async with serving(Tools, kind, typed=False, tool_timeout=0.3) as sessions:
        seat = await opened(sessions)
        assert error(await call(seat, "sleep", seconds=2.0))[0] == "timeout"
        assert result(await call(seat, "increment", timeout_s=30.0)) == 1
        assert result(await call(seat, "sleep", timeout_s=30.0, seconds=0.5)) == "slept"


async def test_a_tool_may_have_a_limit_of_its_own(kind: HostKind) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        assert error(await call(seat, "hasty")) == (
            "timeout",
            "tool 'hasty' timed out after 0.2 s",
        )


async def test_a_call_is_cancelled(kind: HostKind) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        for name in ("wait", "spin"):
            running = asyncio.ensure_future(call(seat, name, seconds=LONG_S))
            await until(lambda: seat.is_busy)
            await asyncio.sleep(0.1)  # so that it runs, wherever that is
            seat.cancel_call("the caller cancelled it")
            assert error(await running) == ("execution_error", "the caller cancelled it")
        assert result(await call(seat, "increment", timeout_s=30.0)) == 1


async def test_a_session_ends_while_a_tool_hangs(kind: HostKind) -> None:
    async with serving(Tools, kind, typed=False, tool_timeout=0.2, close_grace=0.5) as sessions:
        seat = await opened(sessions)
        assert error(await call(seat, "sleep", seconds=2.0))[0] == "timeout"
        await seat.close()
        await until(lambda: sessions.active == 0)


async def test_death_in_a_tool_ends_only_its_session(kind: HostKind) -> None:
    if kind in ("inline", "thread"):
        pytest.skip("the process is the server's own")
    async with serving(Tools, kind, typed=False) as sessions:
        seat, other = await opened(sessions), await opened(sessions)
        assert (await call(seat, "die")).code == "HOST_CRASHED"
        assert result(await call(other, "add", a=1)) == 2


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.mark.parametrize("name", ["wait", "spin", "sleep"])
async def test_a_call_that_is_given_up_is_one_line_in_the_log(
    kind: HostKind,
    name: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        await call(seat, name, timeout_s=0.2, seconds=1.0)
        assert result(await call(seat, "increment")) == 1
        running = asyncio.ensure_future(call(seat, name, seconds=1.0))
        await until(lambda: seat.is_busy)
        await asyncio.sleep(0.1)  # so that it runs, wherever that is
        seat.cancel_call("its caller cancelled it")
        await running
        assert result(await call(seat, "increment")) == 2
        tool = f"tool {name!r} of session {seat.session_id}"
    expected = [f"{tool} timed out after 0.2 s", f"{tool} was cancelled: its caller cancelled it"]
    assert warnings_of(caplog) == expected
    assert "raised" not in capfd.readouterr().err  # where a process logs


async def test_one_that_waits_behind_it_is_told_so(
    kind: HostKind, caplog: pytest.LogCaptureFixture
) -> None:
    if kind in ("process", "sandbox"):
        pytest.skip("a sleep is interrupted there")
    async with serving(Tools, kind, typed=False) as sessions:
        seat = await opened(sessions)
        await call(seat, "sleep", timeout_s=0.1, seconds=1.5)
        late = error(await call(seat, "increment", timeout_s=0.1))
        behind = "it waited for tool 'sleep', which was given up and still runs"
        assert late == ("timeout", f"tool 'increment' timed out after 0.1 s: {behind}")
        assert result(await call(seat, "increment")) == 1
        assert warnings_of(caplog)[1].endswith(behind)
        assert error(await call(seat, "wait", timeout_s=0.1, seconds=LONG_S)) == (
            "timeout",
            "tool 'wait' timed out after 0.1 s",
        )


@pytest.mark.parametrize("given_up", [True, False], ids=["given up", "running"])
async def test_one_that_outlives_its_session_is_told_of_once(
    kind: HostKind, given_up: bool, caplog: pytest.LogCaptureFixture
) -> None:
    if kind in ("process", "sandbox"):
        pytest.skip("it is killed there")
    async with serving(Tools, kind, typed=False, close_grace=0.1) as sessions:
        seat = await opened(sessions)
        calling = call(seat, "sleep", timeout_s=0.1 if given_up else None, seconds=1.5)
        running = asyncio.ensure_future(calling)
        await asyncio.sleep(0.3)
        await seat.close()
        assert sessions.active == 1
        await until(lambda: sessions.active == 0)
        await running
    [told] = [each for each in warnings_of(caplog) if "keeps its slot" in each]
    assert f"session {seat.session_id} keeps its slot: tool 'sleep' still runs 0.1 s" in told
    assert "`process` or `sandbox`" in told
