"""The zygote: sessions forked from it are quick, alike, and none suffers from another's end."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from openenv.env.environment import HostKind
from openenv.project.target import resolve
from openenv.protocol.errors import (
    EnvironmentFactoryError,
    HostCrashed,
    SessionError,
    StepTimeout,
)
from openenv.runtime.sessions import Sessions
from tests.runtime.families import Relative, bearers, children_of, first, marked
from tests.runtime.seats import serving, step, until
from tests.runtime.worlds import World
from tests.serving import serving as serving_on_a_port

FORKING: list[HostKind] = ["process", "sandbox"]
SLEEP = ["sleep", "600"]


def zygote_of(sessions: Sessions) -> int:
    """The process of a server's zygote."""
    nursery = sessions.hosts._nursery
    assert nursery is not None and nursery._zygote is not None
    transport = nursery._zygote._transport
    assert transport is not None
    return int(transport.get_pid())


CELL = """
import threading
from openenv import Action, Environment, Observation

class Order(Action):
    what: str
    arg: None = None

class Grown(Observation):
    threads: list[str] = []

class Cell(Environment[Order, Grown]):
    REQUIRES_RESET = False

    def reset(self) -> Grown:
        return Grown()

    def step(self, action: Order) -> Grown:
        return Grown(threads=[thread.name for thread in threading.enumerate()])
"""

THREAD = """
threading.Thread(target=threading.Event().wait, name="busy-body", daemon=True).start()
"""

LOOP = """
import asyncio
loop = asyncio.new_event_loop()
"""


class TestForking:
    @pytest.mark.parametrize("kind", FORKING)
    async def test_many_at_once(self, kind: HostKind) -> None:
        mark, environ = marked()
        async with serving(Relative, kind, environ=environ) as sessions:
            seats = await asyncio.gather(*(sessions.open() for _ in range(40)))
            answers = await asyncio.gather(*(step(s, "echo", i) for i, s in enumerate(seats)))
            assert [answer.value for answer in answers] == list(range(40))
            assert len(children_of(zygote_of(sessions))) == 40
            await asyncio.gather(*(seat.close() for seat in seats))
            await until(lambda: children_of(zygote_of(sessions)) == [])
        await until(lambda: bearers(mark) == [])

    async def test_the_environment_is_imported_once(self) -> None:
        async with serving(Relative, "process") as sessions:
            seats = [await sessions.open() for _ in range(2)]
            imported = [(await step(seat, "imported_in")).value for seat in seats]
            assert first(imported) == zygote_of(sessions)

    @pytest.mark.parametrize("kind", FORKING)
    async def test_each_has_chances_of_its_own(self, kind: HostKind) -> None:
        pytest.importorskip("numpy")
        async with serving(Lucky, kind) as sessions:
            seats = [await sessions.open() for _ in range(2)]
            one, other = [(await step(seat, "chances")).value for seat in seats]
            assert one[0] != other[0]
            assert one[1] != other[1]

    @pytest.mark.parametrize("kind", FORKING)
    async def test_each_has_no_descriptor_but_its_own(self, kind: HostKind) -> None:
        async with serving(Relative, kind) as sessions:
            seats = await asyncio.gather(*(sessions.open() for _ in range(5)))
            for seat in seats:
                held = (await step(seat, "descriptors")).value
                assert len(held) == 5, held
                assert held.count("/dev/null") == 1
                assert len({each for each in held if each.startswith("socket:")}) == 1
                assert len({each for each in held if each.startswith("pipe:")}) == 1

    @pytest.mark.parametrize("kind", FORKING)
    @pytest.mark.parametrize(
        ("trick", "arg", "gives"),
        [
            ("fork", None, 7),
            ("python", "print(6 * 7)", "42\n"),
            ("think", 1, 2),
            ("awaited", 1, 2),
        ],
    )
    async def test_environments_do_as_they_please(
        self, kind: HostKind, trick: str, arg: Any, gives: Any
    ) -> None:
        async with serving(Relative, kind) as sessions:
            seat = await sessions.open()
            assert (await step(seat, trick, arg)).value == gives
            assert (await step(seat, "echo", 1)).value == 1

    async def test_what_was_registered_is_done_at_the_end(self, tmp_path: Path) -> None:
        file = tmp_path / "last_will"
        async with serving(Testator, "process") as sessions:
            seat = await sessions.open()
            await step(seat, "bequeath", str(file))
            await seat.close()
            assert file.read_text() == "closed"

    async def test_one_that_hangs_up_is_ended(self) -> None:
        mark, environ = marked()
        async with serving(Relative, "process", environ=environ) as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            assert (await step(seat, "hang_up")).code == "HOST_CRASHED"
            assert (await step(other, "echo", 1)).value == 1
            await until(lambda: len(bearers(mark)) == 1 + 2)

    async def test_what_nobody_asked_for_is_not_read(self) -> None:
        """A server would do nothing else."""
        async with serving(Relative, "process", close_grace=0.5) as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            await step(seat, "babble")
            link = seat._host._child.link  # type: ignore[attr-defined]
            await until(lambda: link._unasked)
            for _ in range(10):
                assert (await step(other, "echo", 1)).value == 1
            assert link._unasked <= 1 << 20
            assert (await step(seat, "echo")).code == "HOST_CRASHED"
            assert (await step(other, "echo", 1)).value == 1

    @pytest.mark.parametrize("kind", FORKING)
    async def test_who_prints_without_end_keeps_nobody_busy(
        self, kind: HostKind, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("openenv.runtime.stderr.BURST_S", 0.05)
        async with serving(World, kind) as sessions:
            seat = await sessions.open()
            assert (await step(seat, "flood", 10)).value is None
            crashed = await step(seat, "exit_at_once", 1)
            assert crashed.data["stderr"].endswith("xxxlast words\n")

    def test_a_server_is_warm_before_its_first_session(self) -> None:
        before = set(children_of(os.getpid()))
        with serving_on_a_port(World, host_kind="process") as server:
            nursery = server.openenv.sessions.hosts._nursery
            assert nursery is not None
            until_ready = 0
            while nursery._zygote is None:
                until_ready += 1
                assert until_ready < 10_000
                server.health()
            assert set(children_of(os.getpid())) - before
        assert set(children_of(os.getpid())) <= before


class Testator(World):
    """Leaves things to be done."""

    __test__ = False

    def bequeath(self, arg: str) -> None:
        import atexit

        atexit.register(lambda: Path(arg).write_text("closed"))


class Lucky(Relative):
    """Uses numpy's generator, which its module has imported."""

    import numpy.random


class TestDeadZygotes:
    @pytest.mark.parametrize("kind", FORKING)
    async def test_its_sessions_end_and_another_serves_the_next(self, kind: HostKind) -> None:
        mark, environ = marked()
        async with serving(World, kind, environ=environ) as sessions:
            seats = [await sessions.open() for _ in range(3)]
            await step(seats[0], "spawn", SLEEP)
            hanging = asyncio.ensure_future(step(seats[1], "hang"))
            await asyncio.sleep(0)
            os.kill(zygote_of(sessions), signal.SIGKILL)
            lost = await hanging
            assert (lost.code, lost.ends_session) == ("HOST_CRASHED", True)
            assert "zygote died: signal SIGKILL" in lost.data["message"]
            for seat in (seats[0], seats[2]):
                assert (await step(seat, "echo")).type == "error"
            await until(lambda: sessions.active == 0)
            await until(lambda: bearers(mark) == [])
            for _ in range(2):
                seat = await sessions.open()
                assert (await step(seat, "echo", 1)).value == 1
                os.kill(zygote_of(sessions), signal.SIGKILL)
                assert (await step(seat, "hang")).code == "HOST_CRASHED"

    async def test_one_that_is_killed_as_it_forks(self) -> None:
        async with serving(World, "process") as sessions:
            await sessions.open()
            opening = [asyncio.ensure_future(sessions.open()) for _ in range(20)]
            await asyncio.sleep(0)
            os.kill(zygote_of(sessions), signal.SIGKILL)
            for result in await asyncio.gather(*opening, return_exceptions=True):
                if isinstance(result, BaseException):
                    assert isinstance(result, SessionError)
                else:
                    await step(result, "echo")
            assert (await step(await sessions.open(), "echo", 1)).value == 1

    async def test_one_that_dies_of_each_fork_is_given_longer_and_longer_pauses(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        env, file = served(tmp_path, monkeypatch)
        file.write_text(CELL + "import os; os.register_at_fork(before=lambda: os._exit(7))")
        async with serving_as_it_is(env) as sessions:
            nursery = sessions.hosts._nursery
            assert nursery is not None
            for failures in (1, 2, 3):
                with pytest.raises(HostCrashed, match="zygote died: exit code 7"):
                    await sessions.open()
                assert nursery._failures == failures
            file.write_text(CELL)
            await (await sessions.open()).close()
            assert nursery._failures == 0

    async def test_an_import_that_kills_is_told_and_tried_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        env, file = served(tmp_path, monkeypatch)
        file.write_text("import os; os.write(2, b'last words'); os._exit(7)")
        async with serving_as_it_is(env) as sessions:
            for _ in range(2):
                with pytest.raises(HostCrashed, match="exit code 7") as caught:
                    await sessions.open()
                assert caught.value.details["stderr"] == "last words"
            file.write_text(CELL)
            await (await sessions.open()).close()

    async def test_an_import_that_hangs_is_killed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        env, file = served(tmp_path, monkeypatch)
        file.write_text("import threading; threading.Event().wait()")
        mark, environ = marked()
        async with serving_as_it_is(env, environ=environ, reset_timeout=0.5) as sessions:
            with pytest.raises(StepTimeout):
                await sessions.open()
            await until(lambda: bearers(mark) == [])

    async def test_an_import_that_fails_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        env, file = served(tmp_path, monkeypatch)
        file.write_text("import no_such_module")
        async with serving_as_it_is(env) as sessions:
            with pytest.raises(EnvironmentFactoryError, match="No module named 'no_such_module'"):
                await sessions.open()


class TestThreads:
    @pytest.mark.parametrize("kind", FORKING)
    @pytest.mark.parametrize(
        ("line", "why"),
        [
            (THREAD, "starts threads (busy-body), which a fork does not copy"),
            (LOOP, "leaves open what sessions cannot share (anon_inode:[eventpoll], socket:["),
        ],
        ids=["threads", "an event loop"],
    )
    async def test_imports_that_a_fork_would_not_copy_are_left_to_each_session(
        self,
        kind: HostKind,
        line: str,
        why: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        tmp_path.chmod(0o755)
        tmp_path.parent.chmod(0o755)
        env, file = served(tmp_path, monkeypatch, CELL + line)
        async with serving_as_it_is(env, kind) as sessions:
            with caplog.at_level(logging.WARNING):
                seats = [await sessions.open() for _ in range(2)]
            told = [each.getMessage() for each in caplog.records if "anew" in each.getMessage()]
            assert len(told) == 1
            assert f"importing Cell {why}" in told[0]
            for seat in seats:
                threads = (await step(seat, "threads")).data["observation"]["threads"]
                assert threads == ["MainThread", *(["busy-body"] if line == THREAD else [])]

    async def test_threads_that_stop_at_a_fork_are_no_matter(self) -> None:
        """As those of numpy's OpenBLAS."""
        pytest.importorskip("numpy")
        async with serving(Lucky, "process") as sessions:
            seat = await sessions.open()
            assert (await step(seat, "imported_in")).value == zygote_of(sessions)


def served(
    directory: Path, monkeypatch: pytest.MonkeyPatch, text: str | None = None
) -> tuple[Any, Path]:
    """An environment as the server has imported it, and its file."""
    monkeypatch.setattr(sys, "path", [str(directory), *sys.path])
    file = directory / f"cell_{directory.name}.py"
    file.write_text(CELL if text is None else text)
    return resolve(str(file)).served, file


def serving_as_it_is(env: Any, kind: HostKind = "process", **options: Any) -> Any:
    return serving(env, kind, typed=False, **options)


DOOMED = """
import asyncio, os, sys
from openenv.env.spec import EnvSpec
from openenv.protocol.messages import Request
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.sessions import Sessions
from tests.runtime.worlds import World

async def main() -> None:
    sessions = Sessions(EnvSpec.of(World), Limits(), Housing(sys.argv[1], environ=os.environ))
    for _ in range(3):
        seat = await sessions.open()
        await seat.ask(Request("step", {"what": "spawn", "arg": ["sleep", "600"]}))
    print("ready", flush=True)
    await seat.ask(Request("step", {"what": "hang"}))

asyncio.run(main())
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", FORKING)
async def test_nothing_outlives_a_server_that_is_killed(kind: HostKind) -> None:
    mark, environ = marked()
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", textwrap.dedent(DOOMED), kind),
        stdout=subprocess.PIPE,
        env=environ,
    )
    try:
        assert server.stdout is not None
        assert await asyncio.wait_for(server.stdout.readline(), 40) == b"ready\n"
        assert len(bearers(mark)) >= 1 + 1 + 3 * 2
        server.kill()
        await server.wait()
        await until(lambda: bearers(mark) == [])
    finally:
        for pid in bearers(mark):
            os.kill(pid, signal.SIGKILL)
        await server.wait()
