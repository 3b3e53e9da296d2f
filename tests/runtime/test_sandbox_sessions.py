"""Sessions in sandboxes: whatever one does, the others, the server and the machine go on."""

import asyncio
import mmap
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openenv import create_app
from openenv.env.environment import HostKind
from openenv.env.metadata import EnvironmentMetadata
from openenv.env.spec import EnvSpec
from openenv.project.target import resolve
from openenv.protocol.errors import ConfigurationError, EnvironmentFactoryError
from openenv.runtime.confine import Applied, Confinement, Features, probe
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.sandbox import Sandbox
from openenv.runtime.sessions import Sessions
from tests.runtime.families import Relative, bearers, marked
from tests.runtime.seats import ask, serving, step, until
from tests.runtime.test_processes import CELL, SCRIPT
from tests.runtime.worlds import Do, Seen
from tests.serving import serving as serving_on_a_port

MIB = 1 << 20


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips where the machine lacks what a test is about."""
    missing = [name for name in names if name not in probe()]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)}")


class Greedy(Relative):
    """Takes more than its due."""

    MEMORY_LIMIT = 128 * MIB

    def allocate(self, arg: int) -> int:
        return len(bytearray(arg))

    def share(self, arg: int) -> None:
        """Memory that only a control group counts."""
        kept = mmap.mmap(-1, arg)
        for start in range(0, arg, mmap.PAGESIZE):
            kept[start] = 1

    def fork_bomb(self, arg: None) -> None:
        while True:
            os.fork()

    def loop(self, arg: str | None) -> None:
        while True:
            pass

    def connect(self, arg: int) -> str:
        try:
            socket.create_connection(("127.0.0.1", arg), 5).close()
        except OSError as error:
            return type(error).__name__
        return "connected"

    def read(self, arg: str) -> str:
        return Path(arg).read_text(encoding="utf-8")

    def escape(self, arg: None) -> None:
        """Leaves a process behind that belongs to no group of ours."""
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        os.wait()


class Brief(Greedy):
    CPU_LIMIT = 1.0

    def loop_in_children(self, arg: None) -> None:
        """No single one of them uses much."""
        while True:
            pid = os.fork()
            if pid == 0:
                until = time.process_time() + 0.2
                while time.process_time() < until:
                    pass
                os._exit(0)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def loop_unseen(self, arg: None) -> None:
        """Nobody collects its children, so that its own times do not have theirs."""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.loop_in_children(None)


class Connected(Greedy):
    NETWORK = True


class Carded(Greedy):
    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(name="carded", description=f"made in {os.getpid()}")


class Deadly(Carded):
    def get_metadata(self) -> EnvironmentMetadata:
        os._exit(7)


class Listed(Greedy):
    NETWORK = ("example.org",)


class TestMany:
    @pytest.mark.timeout(120)
    async def test_two_hundred(self) -> None:
        mark, environ = marked()
        async with serving(Relative, "sandbox", environ=environ, capacity=200) as sessions:
            seats = await asyncio.gather(*(sessions.open() for _ in range(200)))
            answers = await asyncio.gather(*(step(s, "echo", i) for i, s in enumerate(seats)))
            assert [answer.value for answer in answers] == list(range(200))
            await asyncio.gather(*(seat.close() for seat in seats))
            await until(lambda: sessions.active == 0)
            await until(lambda: len(bearers(mark)) == 1)
        await until(lambda: bearers(mark) == [])


class TestEnds:
    @pytest.mark.parametrize(
        ("trick", "arg", "cause", "code"),
        [
            ("exit_at_once", 7, "exit code 7", 7),
            ("kill_itself", "SIGKILL", "signal SIGKILL", -9),
            ("kill_itself", "SIGTERM", "signal SIGTERM", -15),
            ("segfault", None, "signal SIGSEGV", -11),
        ],
    )
    async def test_a_crash_is_told_and_hurts_nobody_else(
        self, trick: str, arg: Any, cause: str, code: int
    ) -> None:
        async with serving(Relative, "sandbox") as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            crashed = await step(seat, trick, arg)
            assert (crashed.code, crashed.data["exit_code"]) == ("HOST_CRASHED", code)
            assert cause in crashed.data["message"]
            if trick == "exit_at_once":
                assert crashed.data["stderr"].endswith("last words\n")
            assert (await step(other, "echo", 1)).value == 1
            await until(lambda: sessions.active == 1)

    async def test_a_step_that_loops_is_ended_by_its_deadline(self) -> None:
        async with serving(Greedy, "sandbox", step_timeout=0.3) as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            assert (await step(seat, "loop")).code == "STEP_TIMEOUT"
            await until(lambda: sessions.active == 1)
            assert (await step(other, "echo", 1)).value == 1

    @pytest.mark.parametrize(
        "trick",
        [
            "loop",
            pytest.param("loop_in_children", marks=needs("pidns")),
            pytest.param("loop_unseen", marks=needs("cgroup_cpu")),
        ],
    )
    async def test_a_session_has_only_so_much_cpu_time(self, trick: str) -> None:
        async with serving(Brief, "sandbox") as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            ended = await step(seat, trick)
            assert (ended.code, ended.ends_session) == ("HOST_CRASHED", True)
            assert "its limit of 1 s of CPU time was reached" in ended.data["message"]
            assert (await step(other, "echo", 1)).value == 1

    @needs("pidns")
    async def test_nothing_escapes(self) -> None:
        mark, environ = marked()
        async with serving(Greedy, "sandbox", environ=environ) as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            await step(seat, "escape")
            assert len(bearers(mark)) == 1 + 2 * 2 + 1
            await seat.close()
            await until(lambda: len(bearers(mark)) == 1 + 2)
            await step(other, "escape")
            assert (await step(other, "exit_at_once", 1)).code == "HOST_CRASHED"
            await until(lambda: len(bearers(mark)) == 1)


class TestLimits:
    async def test_an_allocation_that_is_too_large_is_the_environments_own_error(self) -> None:
        async with serving(Greedy, "sandbox") as sessions:
            seat = await sessions.open()
            refused = await step(seat, "allocate", 10 << 30)
            assert (refused.code, refused.data["exception"]) == ("EXECUTION_ERROR", "MemoryError")
            assert (await step(seat, "allocate", 10 * MIB)).value == 10 * MIB

    @needs("cgroup_memory")
    async def test_a_session_that_is_out_of_memory_is_told_so(self) -> None:
        async with serving(Greedy, "sandbox") as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            killed = await step(seat, "share", 256 * MIB)
            assert (killed.code, killed.data["exit_code"]) == ("HOST_CRASHED", -signal.SIGKILL)
            assert "its memory limit of 128 MiB was reached" in killed.data["message"]
            assert (await step(other, "echo", 1)).value == 1

    async def test_a_fork_bomb(self) -> None:
        mark, environ = marked()
        async with serving(Greedy, "sandbox", environ=environ, step_timeout=5) as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            bombed = asyncio.ensure_future(step(seat, "fork_bomb"))
            assert (await step(other, "fork")).value == 7
            assert (await bombed).type == "error"
            assert (await step(other, "fork")).value == 7
            await seat.close()
            await until(lambda: len(bearers(mark)) <= 1 + 2)

    async def test_a_leak_of_descriptors(self) -> None:
        async with serving(Relative, "sandbox") as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            leaked = await step(seat, "leak")
            assert "Too many open files" in leaked.data["message"]
            assert (await step(other, "python", "print(1)")).value == "1\n"

    @needs("netns")
    @pytest.mark.parametrize("env", [Greedy, Listed, Connected])
    async def test_the_network_is_there_if_it_is_declared(self, env: type[Greedy]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            async with serving(env, "sandbox") as sessions:
                said = (await step(await sessions.open(), "connect", port)).value
        assert (said == "connected") is (env.NETWORK is True)

    @needs("mountns")
    async def test_files_of_the_machine_are_out_of_sight(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("secret")
        secret.chmod(0o666)
        async with serving(Greedy, "sandbox") as sessions:
            seat = await sessions.open()
            for path in (str(secret), "/etc/shadow", f"/proc/{os.getpid()}/environ"):
                assert (await step(seat, "read", path)).code == "EXECUTION_ERROR"


def make_greedy() -> Greedy:
    return Greedy()


class TestSources:
    async def test_a_factory(self) -> None:
        async with serving(make_greedy, "sandbox") as sessions:
            assert (await step(await sessions.open(), "echo", 1)).value == 1

    async def test_a_file_that_only_its_owner_may_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is imported before anything is confined."""
        monkeypatch.setattr(sys, "path", list(sys.path))
        file = tmp_path / "counter.py"
        file.write_text(COUNTER)
        file.chmod(0o600)
        env = resolve(str(file)).served
        async with serving(env, "sandbox", typed=False) as sessions:
            seat = await sessions.open()
            await ask(seat, "reset")
            assert (await ask(seat, "step", {"by": 2})).data["observation"]["sum"] == 2

    async def test_what_an_import_raises_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "path", list(sys.path))
        file = tmp_path / "failing.py"
        file.write_text(COUNTER)
        env = resolve(str(file)).served
        file.write_text("raise ValueError('not again')")
        async with serving(env, "sandbox", typed=False) as sessions:
            with pytest.raises(EnvironmentFactoryError, match="not again"):
                await sessions.open()

    async def test_an_environment_of_gymnasium(self) -> None:
        pytest.importorskip("gymnasium")
        env = resolve("gym:CartPole-v1").served
        async with serving(env, "sandbox", typed=False) as sessions:
            seat = await sessions.open()
            assert (await ask(seat, "reset", {"seed": 1})).type == "observation"
            assert (await ask(seat, "state")).type == "state"

    def test_the_script_that_runs(self, tmp_path: Path) -> None:
        script = tmp_path / "script.py"
        script.write_text(CELL + SCRIPT.replace('"process"', '"sandbox"'))
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, timeout=15, check=False
        )
        assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


COUNTER = """
from openenv import Action, Environment, Observation

class Add(Action):
    by: int

class Sum(Observation):
    sum: int = 0

class Counter(Environment[Add, Sum]):
    def reset(self) -> Sum:
        self.sum = 0
        return Sum()

    def step(self, action: Add) -> Sum:
        self.sum += action.by
        return Sum(sum=self.sum)
"""


class TestWhatIsInForce:
    def test_health_tells(self) -> None:
        with serving_on_a_port(Relative, host_kind="sandbox") as server:
            told = server.health()["isolation"]
        features = probe()
        assert told == {
            "host": "sandbox",
            "level": features.level,
            "in_force": list(features.available),
            "missing": dict(features.missing),
        }

    @needs("netns")
    def test_health_tells_of_a_network_that_was_declared(self) -> None:
        with serving_on_a_port(Connected, host_kind="sandbox") as server:
            told = server.health()["isolation"]
        assert "netns" not in told["in_force"]
        assert "NETWORK = True" in told["missing"]["netns"]

    @pytest.mark.parametrize("missing", [{}, {"seccomp": "this kernel has none"}])
    async def test_strict_is_all_or_nothing(
        self, missing: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = Features(probe().available, missing)
        monkeypatch.setattr("openenv.runtime.sandbox.probe", lambda: found)
        housing = Housing("sandbox", "strict", {"PATH": os.environ["PATH"]})
        spec = EnvSpec.of(Relative, Do, Seen)
        if missing:
            with pytest.raises(ConfigurationError, match=r"seccomp \(this kernel has none\)"):
                Sessions(spec, Limits(), housing)
            return
        sessions = Sessions(spec, Limits(), housing)
        try:
            assert (await step(await sessions.open(), "echo", 1)).value == 1
        finally:
            await sessions.close_all()

    def test_a_strict_session_that_lacks_something_is_refused(self) -> None:
        applied = Applied(("rlimits",), {"seccomp": "this kernel has none"})
        refusals = [
            Sandbox(Confinement(), probe(), strict=strict).refuse(applied)
            for strict in (True, False)
        ]
        assert "seccomp (this kernel has none)" in str(refusals[0])
        assert refusals[1] is None

    def test_a_refusal_gives_each_advice_once(self) -> None:
        missing = {
            "mountns": "mount: refused; run as root",
            "pidns": "unshare: refused; run as root",
            "netns": "unshare: refused; run as root",
            "seccomp": "this kernel has none",
        }
        refusal = Sandbox(Confinement(), probe(), strict=True).refuse(Applied((), missing))
        assert str(refusal).endswith(
            "lacks mountns (mount: refused), pidns, netns (unshare: refused): run as root; "
            "seccomp (this kernel has none)"
        )

    @pytest.mark.parametrize(
        ("name", "value", "says"),
        [
            ("MEMORY_LIMIT", "2g", "bytes, at least 16 MiB, got '2g'"),
            ("MEMORY_LIMIT", 1024, "bytes, at least 16 MiB, got 1024"),
            ("CPU_LIMIT", 0, "seconds above 0, or None, got 0"),
            ("CPU_LIMIT", "1h", "seconds above 0, or None, got '1h'"),
        ],
    )
    def test_a_declaration_that_makes_no_sense(self, name: str, value: Any, says: str) -> None:
        spec = EnvSpec.of(Relative, Do, Seen)
        declared = replace(spec, traits=replace(spec.traits, **{name.lower(): value}))
        with pytest.raises(ConfigurationError, match=f"Relative.{name} must be .* {says}"):
            Sessions(declared, Limits(), Housing("sandbox"))

    @pytest.mark.parametrize("kind", ["process", "sandbox"])
    def test_the_card_is_asked_for_where_sessions_live(self, kind: HostKind) -> None:
        with serving_on_a_port(Carded, host_kind=kind) as server:
            told = server.http("GET", "/metadata").json()
            assert server.active() == 0
        assert told["description"] != f"made in {os.getpid()}"
        assert told["description"].startswith("made in ")

    @pytest.mark.parametrize("kind", ["process", "sandbox"])
    def test_a_card_that_kills_is_told(self, kind: HostKind) -> None:
        with serving_on_a_port(Deadly, host_kind=kind) as server:
            answer = server.http("GET", "/metadata")
            assert (answer.status, answer.json()["code"]) == (500, "HOST_CRASHED")
            assert server.active() == 0

    @pytest.mark.parametrize("kind", ["inline", "thread", "process"])
    def test_nothing_else_is_strict(self, kind: HostKind) -> None:
        with pytest.raises(ConfigurationError, match=f"needs host_kind='sandbox', got '{kind}'"):
            create_app(Relative, Do, Seen, host_kind=kind, isolation="strict")

    @pytest.mark.parametrize("name", ["strictly", "none"])
    def test_there_is_no_other_isolation(self, name: Any) -> None:
        with pytest.raises(ConfigurationError, match="best or strict"):
            create_app(Relative, Do, Seen, isolation=name)
