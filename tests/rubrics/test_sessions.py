"""Rubrics of sessions that are many, that are tools', that are served in production."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from openenv import EnvPool, GenericEnvClient, local
from openenv.env.tools import tool
from openenv.protocol.errors import EnvironmentFailed
from openenv.rubrics import Rubric
from openenv.rubrics.blocking import awaited, on_a_loop
from openenv.rubrics.containment import Ended
from tests.rubrics.scorers import Raising
from tests.rubrics.worlds import Delayed, Peer, PeerAwaiting, Tried, Try
from tests.serving import serving

SESSIONS = 16


class Bench(Rubric):
    """A judge that answers once all sessions have asked it."""

    def __init__(self) -> None:
        self._asked = 0
        self._all = asyncio.Event()

    async def forward(self, action: Any, observation: Any) -> float:
        """1, in the end."""
        self._asked += 1
        if self._asked == SESSIONS:
            self._all.set()
        await self._all.wait()
        return 1.0


@pytest.mark.parametrize("style", [Peer, PeerAwaiting])
def test_sessions_are_judged_side_by_side(style: Any) -> None:
    bench = Bench()

    class Judged(style):  # type: ignore[misc]  # one of two classes
        def __init__(self) -> None:
            self.rubric = bench

    with (
        serving(Judged, max_concurrent_envs=SESSIONS) as server,
        EnvPool(f"http://127.0.0.1:{server.port}", SESSIONS, GenericEnvClient) as pool,
    ):
        pool.reset()
        assert pool.step([{}] * SESSIONS).rewards.tolist() == [1.0] * SESSIONS


def test_blocking_callers_share_one_loop_and_an_interruption_cancels() -> None:
    async def running() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    with ThreadPoolExecutor(4) as pool:
        loops = set(pool.map(lambda _: awaited(running()), range(8)))
    assert len(loops) == 1
    assert not on_a_loop()

    async def failing() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        awaited(failing())

    async def interrupting() -> None:
        raise KeyboardInterrupt

    with pytest.raises(Ended, match="KeyboardInterrupt"):
        awaited(interrupting())
    assert awaited(running()) in loops


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_loop_of_its_own() -> None:
    async def one() -> int:
        return 1

    assert awaited(one()) == 1
    child = os.fork()
    if not child:
        os._exit(0 if awaited(one()) == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("openenv-rubrics") == 1


class Tooled(Peer):
    """Whose tools are rewarded."""

    def __init__(self) -> None:
        super().__init__()
        self.rubric = Raising()

    @tool
    def guess(self, number: int) -> Tried:
        """Guesses.

        Args:
            number: the guess.
        """
        return self.rewarded(number, Tried(way=str(number)))

    @tool
    def guess_raw(self, number: int) -> Tried:
        """Guesses as the peer does.

        Args:
            number: the guess.
        """
        observation = Tried(way=str(number))
        observation.reward = self._apply_rubric(number, observation)
        return observation


class TooledInline(Tooled):
    """The same on the event loop, with tools in a thread."""

    HOST = "inline"


@pytest.mark.parametrize("style", [Tooled, TooledInline])
@pytest.mark.parametrize("name", ["guess", "guess_raw"])
def test_calls_of_tools_tell_it_too(style: type[Tooled], name: str) -> None:
    call = {"type": "call_tool", "tool_name": name, "arguments": {"number": 3}}
    with serving(style) as server, server.socket() as socket:
        socket.reset()
        frame = socket.step(**call)
        assert frame["reward"] is None
        assert frame["metadata"]["reward_error"]["rubric"] == "Raising"
        assert frame["observation"]["error"] is None


class Secretive(Peer):
    """Would explain all."""

    explain_rewards = True


def test_in_production_nobody_reads_the_verifiers_errors_nor_its_scores() -> None:
    production: dict[str, Any] = {"mode": "production", "allow_agent_control": True}
    with serving(Secretive, **production) as server, server.socket() as socket:
        socket.reset(explain_rewards=True)
        metadata = socket.step(way="raises")["metadata"]
    error = metadata["reward_error"]
    assert error["rubric"] == "rubric_0.ways.raises"
    assert error["error"] == "incident"
    assert "the grader is down" not in str(metadata)
    assert "under incident" in error["message"]
    assert "rubric" not in metadata


class Resetting(Rubric):
    """Is awaited at each reset."""

    def __init__(self) -> None:
        self.resets = 0

    async def reset_async(self) -> None:
        """Counts."""
        await asyncio.sleep(0)
        self.resets += 1

    def forward(self, action: Any, observation: Any) -> float:
        """How many resets there were."""
        return float(self.resets)


class Quiet(Peer):
    """Whose reset says nothing to its rubric."""

    def __init__(self) -> None:
        self.rubric = Resetting()

    def reset(self, seed: int | None = None, **options: Any) -> Tried:
        """Begins."""
        return Tried()


class QuietInline(Quiet):
    """The same on the event loop."""

    HOST = "inline"


@pytest.mark.parametrize("style", [Quiet, QuietInline])
def test_a_session_resets_the_rubric_with_each_reset(style: type[Quiet]) -> None:
    with serving(style) as server, server.socket() as socket:
        for count in (1.0, 2.0):
            socket.reset()
            assert socket.step()["reward"] == count


class Unresettable(Resetting):
    """Cannot be reset."""

    def reset(self) -> None:
        """Breaks."""
        raise OSError("no way back")

    async def reset_async(self) -> None:
        """Breaks."""
        self.reset()


def test_a_rubric_that_cannot_be_reset_fails_the_reset_and_the_session_lives() -> None:
    class Stuck(Quiet):
        def __init__(self) -> None:
            self.rubric = Unresettable()

    with serving(Stuck) as server, server.socket() as socket:
        error = socket.refused({"type": "reset", "data": {}})
        assert "no way back" in error["message"]
        assert socket.state()["step_count"] == 0


class Fed(Delayed):
    """Feeds its rubric at the reset, and refuses some."""

    def reset(self, seed: int | None = None, *, refuse: bool = False, **options: Any) -> Tried:
        """Begins."""
        if refuse:
            raise ValueError("not so")
        self._reset_rubric()
        self._apply_rubric(None, Tried())
        return Tried()


def test_what_a_reset_feeds_its_rubric_with_stays_and_a_failed_one_forgets_nothing() -> None:
    with local(Fed) as env:
        for _ in range(2):
            env.reset()
            env.step(Try())
            rewards = env.step(Try(end=True)).observation.metadata["step_rewards"]
            assert rewards == [0.25, 0.5, 1.0]

    class Continuing(Fed):
        REQUIRES_RESET = False

    with local(Continuing) as env:
        env.reset()
        with pytest.raises(EnvironmentFailed, match="not so"):
            env.reset(refuse=True)
        assert env.step(Try(end=True)).observation.metadata["step_rewards"] == [0.5, 1.0]


class Unasked(Peer):
    """Has a rubric, and never asks it."""

    def step(self, action: Try) -> Tried:
        return Tried(way=action.way, done=action.end)


class Counted(Unasked):
    """Says itself what a step is worth."""

    def step(self, action: Try) -> Tried:
        return Tried(done=action.end, reward=1.0)


class AskedByHand(Unasked):
    """Asks for the log alone."""

    def step(self, action: Try) -> Tried:
        assert self.rubric is not None
        self.rubric(action, None)
        return super().step(action)


def test_a_rubric_that_nobody_asks_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    with local(Unasked) as env:
        for _ in range(2):
            env.reset()
            env.step(Try())
            assert env.step(Try(end=True)).reward is None
    [record] = [record for record in caplog.records if record.name == "openenv.rubrics"]
    assert record.levelname == "WARNING"
    assert "Unasked has a rubric that was never called" in record.message
    assert "return self.rewarded(action, observation)" in record.message


@pytest.mark.parametrize("style", [Peer, PeerAwaiting, Counted, AskedByHand])
def test_one_that_is_asked_or_not_needed_is_not(
    style: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with local(style) as env:
        env.reset()
        env.step(Try(end=True))
    assert "never called" not in caplog.text
