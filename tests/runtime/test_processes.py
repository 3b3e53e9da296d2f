"""Environments in processes of their own: they crash alone, see no secrets, and leave nothing."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from openenv.env.spec import EnvSpec
from openenv.project.target import resolve
from openenv.protocol.errors import (
    ConfigurationError,
    EnvironmentFactoryError,
    HostCrashed,
    StepTimeout,
)
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.sessions import Sessions
from openenv.settings import without_secrets
from tests.runtime import worlds
from tests.runtime.seats import ask, is_alive, reset, serving, step, until
from tests.runtime.worlds import Do, Seen, World

SLEEP = ["sleep", "600"]


class Liar(World):
    """Writes into every pipe that it finds."""

    def lie(self, arg: str) -> None:
        for fd in range(3, 20):
            try:
                os.write(fd, bytes.fromhex(arg))
            except OSError:
                continue


class Slow(World):
    """Takes its time over a long answer, and notes its end in the file that it is given."""

    def answer_late(self, file: str) -> str:
        self._file = Path(file)
        self._file.touch()
        time.sleep(0.2)
        return "x" * 1_000_000

    def close(self) -> None:
        self._file.write_text("closed")


class Counted(World):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        Counted.made += 1

    def count(self, arg: None) -> int:
        return self.made


def make_counted() -> Any:
    return Counted()


class TestCrashes:
    @pytest.mark.parametrize(
        ("trick", "arg", "cause", "code"),
        [
            ("exit_at_once", 7, "exit code 7", 7),
            ("exit_at_once", 0, "exit code 0", 0),
            ("kill_itself", "SIGKILL", "signal SIGKILL", -9),
            ("kill_itself", "SIGTERM", "signal SIGTERM", -15),
            ("kill_itself", "SIGRTMAX", "signal ", -signal.SIGRTMAX),
            ("segfault", None, "signal SIGSEGV", -11),
        ],
    )
    async def test_a_crash_is_told_and_hurts_nobody_else(
        self, trick: str, arg: Any, cause: str, code: int
    ) -> None:
        async with serving(World, "process") as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            crashed = await step(seat, trick, arg)
            assert (crashed.code, crashed.ends_session) == ("HOST_CRASHED", True)
            assert cause in crashed.data["message"]
            assert crashed.data["exit_code"] == code
            assert (await step(seat, "echo")).code == "SESSION_ERROR"
            assert (await step(other, "echo", 1)).value == 1
            await until(lambda: sessions.active == 1)

    async def test_the_last_words_are_told(self) -> None:
        async with serving(World, "process") as sessions:
            crashed = await step(await sessions.open(), "exit_at_once", 7)
            assert crashed.data["stderr"].endswith("last words\n")

    async def test_a_death_between_two_calls_is_told_at_the_next(self) -> None:
        async with serving(World, "process") as sessions:
            seat = await sessions.open()
            pid = (await step(seat, "pid")).value
            os.kill(pid, signal.SIGKILL)
            await until(lambda: not is_alive(pid))
            assert (await step(seat, "echo")).code == "HOST_CRASHED"

    @pytest.mark.parametrize("lie", ["ff" * 64, "00" * 5, "01000000026e6f", "01ffffffff"])
    async def test_a_process_that_sends_nonsense_cannot_harm(self, lie: str) -> None:
        async with serving(Liar, "process", step_timeout=2) as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            await step(seat, "lie", lie)
            await step(seat, "echo", 1)
            assert (await step(other, "echo", 1)).value == 1


class TestPipes:
    async def test_what_an_environment_prints_does_not_disturb_the_answers(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        async with serving(World, "process") as sessions:
            seat = await sessions.open()
            for _ in range(3):
                assert (await step(seat, "chatter", "hello\n")).value == "''b''"
        shown = capfd.readouterr()
        assert shown.out == ""
        assert shown.err.count("hello") >= 9

    async def test_much_output_stops_nobody(self) -> None:
        async with serving(World, "process") as sessions:
            seat = await sessions.open()
            line = "x" * 1_000_000
            assert (await step(seat, "chatter", line[:100_000])).type == "observation"
            assert (await step(seat, "echo", line)).value == line
            assert len((await step(seat, "size", 5_000_000)).value) == 5_000_000

    async def test_an_answer_that_nobody_reads_keeps_no_child_from_its_end(
        self, tmp_path: Path
    ) -> None:
        file = tmp_path / "file"
        async with serving(Slow, "process") as sessions:
            seat = await sessions.open()
            late = asyncio.ensure_future(step(seat, "answer_late", str(file)))
            await until(file.exists)
            await seat.close()
            assert (await late).code == "SESSION_ERROR"
            assert file.read_text() == "closed"


class TestSecrets:
    async def test_a_child_never_sees_credentials(self, monkeypatch: pytest.MonkeyPatch) -> None:
        secrets = ["FAKE_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "MY_KEY"]
        secrets += ["DB_PASS", "MYSQL_PWD", "GPG_PASSPHRASE", "GITHUB_PAT"]
        secrets += ["AZURE_STORAGE_CONNECTION_STRING"]
        for name in [*secrets, "ASKED_FOR_TOKEN"]:
            monkeypatch.setenv(name, f"secret of {name}")
        monkeypatch.setenv("HARMLESS", "seen")
        monkeypatch.setenv("OPENENV_CHILD_ENV", "ASKED_FOR_TOKEN")
        async with serving(World, "process", environ=without_secrets(os.environ)) as sessions:
            seat = await sessions.open()
            for seen in (await step(seat, "environment")).value:
                assert not set(secrets) & seen.keys()
                assert "secret of FAKE" not in str(seen)
                assert (seen["HARMLESS"], seen["ASKED_FOR_TOKEN"]) == (
                    "seen",
                    "secret of ASKED_FOR_TOKEN",
                )

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("HF", "hf_" + "a1" * 16),
            ("MODEL", "use sk-proj-" + "a1" * 16),
            ("DEPLOY", "-----BEGIN OPENSSH PRIVATE KEY-----"),
            *(
                (name, "x")
                for name in ("DBPASS", "DB_PASS", "MY_PWD", "AWS_SESSION", "SITE_SESSION")
            ),
            *((name, "LEAKME16") for name in ("STRIPE_SK", "LITELLM_MASTER", "WANDB_API")),
            *((name, "x") for name in ("GCP_CREDS", "WIFI_PSK", "MY_JWT", "SIGNING_KEYS_2")),
            ("HTTPS_PROXY", "http://user:pass@proxy.example:3128"),
            ("http_proxy", "user:pass@proxy.example:3128"),
            ("ALL_PROXY", "user:pass@proxy"),
            ("REDIS_URL", "redis://:pass@cache/0"),
            ("PIP_INDEX_URL", "https://user:pass@index.example/simple"),
            ("PIP_EXTRA_INDEX_URL", "https://one.example https://sometoken@two.example/simple"),
            ("BLOBS", "AccountName=me;AccountKey=abc;EndpointSuffix=x"),
            ("DB", "host=here user=me password=abc"),
            ("CALLBACK", "https://here.example/?token=abc"),
        ],
    )
    def test_a_credential_is_known_by_its_name_or_by_its_shape(self, name: str, value: str) -> None:
        assert without_secrets({name: value}) == {}
        assert without_secrets({name: value, "OPENENV_CHILD_ENV": name})[name] == value

    def test_what_only_sounds_like_a_credential_is_kept(self) -> None:
        names = ["PWD", "OLDPWD", "XDG_SESSION_ID", "DBUS_SESSION_BUS_ADDRESS", "SESSION_MANAGER"]
        names += ["DESKTOP_SESSION", "KDE_FULL_SESSION", "TERM_SESSION_ID", "PROXY_BYPASS"]
        harmless = {name: "/home/you/hf_models:sk-learn" for name in names}
        assert without_secrets(harmless) == harmless

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("HTTPS_PROXY", "http://proxy.example:3128"),
            ("NO_PROXY", "localhost,127.0.0.1,.example"),
            ("PIP_INDEX_URL", "https://index.example/simple/@scope:1"),
            ("REPOSITORY", "ssh://git@host.example/you/it.git"),
            ("REMOTE", "git@host.example:you/it.git"),
            ("IMAGE", "image:tag@sha256:0a1b2c"),
            ("CONTACT", "mailto:you@host.example"),
            ("SPARK_MASTER", "spark://here:7077"),
            ("OPENAI_API", "https://model.example/v1"),
            ("IS_MASTER", "1"),
            ("USES_API", "true"),
            ("PS1", r"\u@\h:\w\$ "),
            ("OPTIONS", "max_token=5 tokens=7"),
        ],
    )
    def test_addresses_and_switches_are_no_credentials(self, name: str, value: str) -> None:
        assert without_secrets({name: value}) == {name: value}


class TestHungProcesses:
    async def test_a_step_that_hangs_is_killed_with_all_it_started(self) -> None:
        async with serving(World, "process", step_timeout=0.3, capacity=2) as sessions:
            seat, other = await asyncio.gather(sessions.open(), sessions.open())
            pids = [(await step(seat, "pid")).value, (await step(seat, "spawn", SLEEP)).value]
            assert all(map(is_alive, pids))
            hung = await step(seat, "hang")
            assert (hung.code, hung.ends_session) == ("STEP_TIMEOUT", True)
            await until(lambda: sessions.active == 1)
            await until(lambda: not any(map(is_alive, pids)))
            assert (await step(other, "echo", 1)).value == 1
            await sessions.open()

    async def test_a_reset_that_hangs_is_killed(self) -> None:
        async with serving(World, "process", reset_timeout=5) as sessions:
            seat = await sessions.open()
            pid = (await step(seat, "pid")).value
            hung = await ask(seat, "reset", {"do": {"what": "hang"}}, 0.2)
            assert hung.code == "STEP_TIMEOUT"
            await until(lambda: sessions.active == 0)
            assert not is_alive(pid)

    async def test_a_constructor_that_hangs_is_killed(self) -> None:
        async with serving(worlds.Hangs, "process", reset_timeout=0.5, capacity=1) as sessions:
            with pytest.raises(StepTimeout):
                await sessions.open()
            await until(lambda: sessions.active == 0)

    async def test_a_constructor_that_dies_is_told(self) -> None:
        async with serving(worlds.Dies, "process", capacity=1) as sessions:
            with pytest.raises(HostCrashed, match="exit code 7") as caught:
                await sessions.open()
            assert "last words" in caught.value.details["stderr"]
            await until(lambda: sessions.active == 0)

    async def test_a_close_that_hangs_is_killed_after_the_grace(self) -> None:
        async with serving(worlds.Unclosable, "process", close_grace=0.1) as sessions:
            seat = await sessions.open()
            pid = (await step(seat, "pid")).value
            await seat.close()
            await until(lambda: sessions.active == 0)
            assert not is_alive(pid)

    async def test_a_server_that_ends_leaves_no_process(self) -> None:
        pids = []
        async with serving(worlds.Unclosable, "process", close_grace=0.1) as sessions:
            for _ in range(2):
                seat = await sessions.open()
                pids.append((await step(seat, "pid")).value)
            hung = asyncio.ensure_future(step(seat, "hang"))
            await asyncio.sleep(0)
        assert (await hung).type == "error"
        await until(lambda: not any(map(is_alive, pids)))


class Forking(World):
    def fork_and_die(self, arg: None) -> None:
        if os.fork() == 0:
            time.sleep(60)
        os._exit(7)


class TestGrandchildren:
    async def test_a_death_is_seen_while_a_forked_worker_lives(self) -> None:
        async with serving(Forking, "process") as sessions:
            seat = await sessions.open()
            crashed = await asyncio.wait_for(step(seat, "fork_and_die"), 10)
            assert crashed.code == "HOST_CRASHED"

    def test_also_on_the_event_loop_of_servers(self) -> None:
        uvloop = pytest.importorskip("uvloop")
        uvloop.run(self.test_a_death_is_seen_while_a_forked_worker_lives())
        uvloop.run(self.test_they_end_as_soon_as_their_session_is_dead())

    async def test_they_end_as_soon_as_their_session_is_dead(self) -> None:
        async with serving(World, "process") as sessions:
            seat = await sessions.open()
            pids = [(await step(seat, "pid")).value, (await step(seat, "spawn", SLEEP)).value]
            os.kill(pids[0], signal.SIGKILL)
            await until(lambda: not any(map(is_alive, pids)))

    @pytest.mark.parametrize("end", ["close", "exit_at_once"])
    async def test_they_end_with_the_session(self, end: str) -> None:
        async with serving(World, "process") as sessions:
            seat = await sessions.open()
            pid = (await step(seat, "spawn", SLEEP)).value
            if end == "close":
                await seat.close()
            else:
                assert (await step(seat, "exit_at_once", 1)).code == "HOST_CRASHED"
            await until(lambda: sessions.active == 0)
            await until(lambda: not is_alive(pid))

    @pytest.mark.parametrize("end", ["close", "exit_at_once"])
    async def test_one_that_runs_away_ends_too(self, end: str) -> None:
        async with serving(World, "process") as sessions:
            seat = await sessions.open()
            pid = (await step(seat, "spawn", ["setsid", *SLEEP])).value
            if end == "close":
                await seat.close()
            else:
                assert (await step(seat, "exit_at_once", 1)).code == "HOST_CRASHED"
            await until(lambda: sessions.active == 0)
            await until(lambda: not is_alive(pid))


class TestImporting:
    async def test_a_class_that_no_other_process_can_import(self) -> None:
        class Local(World):
            pass

        for env in (Local, lambda: World(), World()):  # noqa: PLW0108  # a lambda is the point
            with pytest.raises(ConfigurationError, match="new process can import"):
                Sessions(EnvSpec.of(env, Do, Seen), Limits(), Housing("process"))

    async def test_a_factory_and_given_types(self) -> None:
        async with serving(worlds.make_anything, "process") as sessions:
            assert (await step(await sessions.open(), "echo", 1)).value == 1

    async def test_a_factory_that_does_not_say_what_it_makes_is_called_once(self) -> None:
        async with serving(make_counted, "process") as sessions:
            assert (await step(await sessions.open(), "count")).value == 1

    @pytest.mark.parametrize("name", ["cell.py", "tests.py"])
    async def test_a_file_served_by_path(
        self, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also one whose name another module has."""
        monkeypatch.setattr(sys, "path", list(sys.path))
        sys.modules.setdefault("tests", type(sys)("tests"))
        file = tmp_path / name
        file.write_text(CELL)
        target = resolve(str(file))
        await self._grows(target.served)

    async def test_a_file_in_a_package(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "path", list(sys.path))
        package = tmp_path / "cell_package"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "models.py").write_text(CELL.partition("class Cell")[0])
        (package / "env.py").write_text(
            "from openenv import Environment\nfrom .models import Grow, Grown\n"
            "class Cell" + CELL.partition("class Cell")[2]
        )
        await self._grows(resolve(str(package / "env.py")).served)

    async def _grows(self, env: Any) -> None:
        sessions = Sessions(
            EnvSpec.of(env), Limits(), Housing("process", environ={"PATH": os.environ["PATH"]})
        )
        try:
            seat = await sessions.open()
            assert (await reset(seat)).data["observation"]["size"] == 1
            grown = await ask(seat, "step", {"by": 2})
            assert grown.data["observation"]["size"] == 3
        finally:
            await sessions.close_all()

    def test_a_class_of_the_script_that_runs(self, tmp_path: Path) -> None:
        script = tmp_path / "script.py"
        script.write_text(CELL + SCRIPT)
        assert self._run(str(script), cwd=tmp_path) == "3\n"

    def test_a_class_of_a_module_that_runs(self, tmp_path: Path) -> None:
        package = tmp_path / "cells"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "words.py").write_text("HELLO = 'hello'\n")
        (package / "__main__.py").write_text(CELL + "from .words import HELLO\n" + SCRIPT)
        assert self._run("-m", "cells", cwd=tmp_path) == "3\n"

    def test_a_factory_of_the_script_that_runs(self, tmp_path: Path) -> None:
        (tmp_path / "cell.py").write_text(CELL)
        script = tmp_path / "script.py"
        script.write_text(
            "import functools\nimport cell\n\ndef make(size):\n    return cell.Cell()\n"
            + SCRIPT.replace("of(Cell)", "of(functools.partial(make, 3), cell.Grow, cell.Grown)")
        )
        assert self._run(str(script), cwd=tmp_path) == "3\n"

    def test_a_class_that_was_typed_in(self, tmp_path: Path) -> None:
        with pytest.raises(AssertionError, match="ConfigurationError: .* it was typed in"):
            self._run("-c", CELL + SCRIPT, cwd=tmp_path)

    def _run(self, *arguments: str, cwd: Path) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=15,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def test_a_module_that_cannot_be_imported_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        file = tmp_path / "once_only.py"
        file.write_text(CELL)
        env = resolve(str(file)).served
        file.write_text("raise SystemExit('not again')")
        async with serving(env, "process") as sessions:
            with pytest.raises(EnvironmentFactoryError, match="not again"):
                await sessions.open()


CELL = """
from __future__ import annotations
from openenv import Action, Environment, Observation

class Grow(Action):
    by: int

class Grown(Observation):
    size: int = 1

class Cell(Environment[Grow, Grown]):
    size: int

    def reset(self, seed: int | None = None) -> Grown:
        self.size = 1
        return Grown()

    def step(self, action: Grow) -> Grown:
        self.size += action.by
        return Grown(size=self.size)
"""

SCRIPT = """
if __name__ == "__main__":
    import asyncio, json, os
    from openenv.env.spec import EnvSpec
    from openenv.protocol.messages import Request
    from openenv.runtime.hosts import Housing
    from openenv.runtime.limits import Limits
    from openenv.runtime.sessions import Sessions

    async def main() -> None:
        sessions = Sessions(
            EnvSpec.of(Cell), Limits(), Housing("process", environ={"PATH": os.environ["PATH"]})
        )
        seat = await sessions.open()
        await seat.ask(Request("reset", {}))
        reply = await seat.ask(Request("step", {"by": 2}))
        print(json.loads(reply.body)["observation"]["size"])
        await sessions.close_all()

    asyncio.run(main())
"""

DOOMED_SERVER = """
import asyncio, os, sys
from openenv.env.spec import EnvSpec
from openenv.protocol.messages import Request
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.sessions import Sessions
from tests.runtime.worlds import World

async def main() -> None:
    sessions = Sessions(EnvSpec.of(World), Limits(), Housing("process", environ=os.environ))
    seat = await sessions.open()
    print((await seat.ask(Request("step", {"what": "pid"}))).body.decode(), flush=True)
    if sys.argv[1]:
        await seat.ask(Request("step", {"what": "hang", "arg": sys.argv[1]}))
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("busy", [True, False], ids=["in the middle of a step", "idle"])
async def test_a_child_dies_with_a_server_that_is_killed(busy: bool, tmp_path: Path) -> None:
    hangs = tmp_path / "hangs"
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", textwrap.dedent(DOOMED_SERVER), str(hangs) if busy else ""),
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert server.stdout is not None
        line = (await server.stdout.readline()).decode()
        pid = int(line.partition('"value":')[2].partition("}")[0])
        assert is_alive(pid)
        if busy:
            await until(hangs.exists)
    finally:
        server.kill()
        await server.wait()
    await until(lambda: not is_alive(pid))
