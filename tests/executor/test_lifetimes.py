"""What executors hold, and that nothing of it is left."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from openenv.core.tools import PyExecutor
from openenv.executor import CodeResult, ExecutorFailed, ExecutorLimits, PythonExecutor
from openenv.runtime.confine import Features, probe
from openenv.runtime.confine.features import NAMESPACES
from openenv.runtime.confine.keeper import children

LIMITS = ExecutorLimits(timeout_s=60)
PATIENCE_S = 15.0


def zygotes() -> set[int]:
    return set(children(os.getpid()))


def threads() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("openenv")}


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def running(mark: str) -> list[int]:
    """The processes that have a mark among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def until(true: Callable[[], object]) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


class TestSharing:
    def test_the_same_configuration_is_one_zygote_and_the_last_ends_it(self) -> None:
        before, held, present = zygotes(), descriptors(), threads()
        executors = [PythonExecutor(limits=LIMITS, setup="shared = 1") for _ in range(16)]
        with ThreadPoolExecutor(16) as pool:
            results = [*pool.map(lambda each: each.run("x = shared\nid(x)"), executors)]
        assert [result.exit_code for result in results] == [0] * 16
        assert len(zygotes() - before) == 1
        for executor in executors[1:]:
            executor.close()
        assert executors[0].run("x").value == "1"
        executors[0].close()
        assert zygotes() == before
        assert threads() <= present
        assert descriptors() == held

    def test_another_configuration_is_another_one(self) -> None:
        before = zygotes()
        with PythonExecutor(setup="a = 1") as one, PythonExecutor(setup="a = 2") as other:
            assert (one.run("a").value, other.run("a").value) == ("1", "2")
            assert len(zygotes() - before) == 2
        assert zygotes() == before

    def test_one_that_runs_nothing_ends_too(self) -> None:
        before = zygotes()
        for _ in range(3):
            PythonExecutor(limits=LIMITS).close()
        assert zygotes() == before


class TestEnds:
    @pytest.mark.parametrize("how", ["reset", "close", "timeout"])
    @pytest.mark.parametrize("without", [(), NAMESPACES])
    def test_what_code_has_started_ends(
        self, how: str, without: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found: Features = probe().without(without)
        monkeypatch.setattr("openenv.runtime.sandbox.probe", lambda: found)
        mark = f"6{uuid.uuid4().int % 10**12}.5"
        start = (
            "import os, subprocess\n"
            f"subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
            f"subprocess.Popen(['sleep', '{mark}'])\n"
        )
        with PythonExecutor(limits=LIMITS, setup=f"without = {len(without)}") as executor:
            assert executor.run(start).exit_code == 0
            until(lambda: len(running(mark)) == 2)
            if how == "reset":
                executor.reset()
            elif how == "timeout":
                executor.run("while True: pass", timeout_s=0.5)
            else:
                executor.close()
            until(lambda: not running(mark))

    def test_closing_ends_what_runs(self) -> None:
        executor = PythonExecutor(limits=LIMITS)
        executor.run("1")
        results: list[CodeResult] = []
        thread = threading.Thread(
            target=lambda: results.append(executor.run("print('a')\nwhile True: pass"))
        )
        thread.start()
        until(executor._turn.locked)
        executor.close()
        thread.join()
        assert results[0].exit_code == 137

    def test_closing_in_a_signal_handler_ends_what_runs(self) -> None:
        before, executor = zygotes(), PythonExecutor(limits=LIMITS)
        executor.run("1")
        was = signal.signal(signal.SIGALRM, lambda *_: executor.close())
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            result = executor.run("while True: pass")
        finally:
            signal.signal(signal.SIGALRM, was)
        assert result.exit_code != 0
        with pytest.raises(ExecutorFailed, match="closed"):
            executor.run("1")
        assert zygotes() == before

    def test_a_zygote_that_is_killed_is_followed_by_another(self) -> None:
        before = zygotes()
        with PythonExecutor(limits=LIMITS, setup="killed = 1") as executor:
            executor.run("x = 1")
            for pid in zygotes() - before:
                os.kill(pid, signal.SIGKILL)
            until(lambda: executor.run("1").restarted)
            assert executor.run("'x' in dir()").value == "false"
        assert zygotes() == before

    def test_python_ends_with_what_was_not_closed(self, tmp_path: Path) -> None:
        mark = f"6{uuid.uuid4().int % 10**12}.5"
        script = tmp_path / "script.py"
        script.write_text(
            "from openenv.executor import PythonExecutor\n"
            "executor = PythonExecutor()\n"
            f"code = \"import subprocess; subprocess.Popen(['sleep', '{mark}']); 5\"\n"
            "print(executor.run(code).value)\n"
        )
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.stdout, done.stderr) == ("5\n", "")
        until(lambda: not running(mark))

    def test_one_that_is_closed_last_of_all_ends_in_silence(self, tmp_path: Path) -> None:
        script = tmp_path / "script.py"
        script.write_text(
            "import atexit\n"
            "atexit.register(lambda: executor.close())\n"  # called after what is registered later
            "from openenv.executor import PythonExecutor\n"
            "executor = PythonExecutor()\n"
            "print(executor.run('5').value)\n"
        )
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.stdout, done.stderr) == ("5\n", "")

    @pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # it execs nothing
    def test_a_forked_process_makes_its_own(self) -> None:
        with PythonExecutor(limits=LIMITS) as executor:
            executor.run("x = 1")
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    try:
                        executor.run("1")
                    except ExecutorFailed:
                        executor.close()
                        with PythonExecutor(limits=LIMITS) as own:
                            code = 0 if own.run("6 * 7").value == "42" else 2
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            assert executor.run("x").value == "1"


class TestWhatIsInForce:
    @pytest.mark.parametrize("without", [(), NAMESPACES])
    def test_it_is_told(self, without: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        found: Features = probe().without(without)
        monkeypatch.setattr("openenv.runtime.sandbox.probe", lambda: found)
        with PythonExecutor(limits=LIMITS, setup=f"without = {len(without)}") as executor:
            told = executor.sandbox
            assert told == {
                "level": found.level,
                "in_force": list(found.available),
                "missing": dict(found.missing),
            }
            assert executor.run("6 * 7").value == "42"

    def test_strict_is_all_or_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found: Features = probe().without(["seccomp"], "this kernel has none")
        monkeypatch.setattr("openenv.runtime.sandbox.probe", lambda: found)
        present = threads()
        with pytest.raises(ValueError, match=r"isolation='strict' needs .*seccomp"):
            PythonExecutor(isolation="strict")
        assert threads() <= present


class TestPyExecutor:
    def test_it_shows_what_was_printed_and_the_value(self) -> None:
        executor = PyExecutor(["json.decoder"])
        told = executor.run("import json, math\nprint('a')\nsafe_json_dumps({'b': object()})[:5]")
        assert (told.stdout, told.stderr, told.exit_code) == ("a\n\n\"{'b':\"", "", 0)
        told = executor.run("import os")
        assert told.exit_code == 1 and "allowed: collections" in told.stderr
        executor.close()

    def test_one_that_is_let_go_of_ends_when_another_is_made(self) -> None:
        before = zygotes()
        executor = PyExecutor(["*"])
        pid = executor.run("import os; x = 1\nos.getpid()").stdout
        assert pid
        del executor
        executor = PyExecutor(["*"])
        assert executor.run("'x' in dir()").stdout == "false"
        executor.close()
        assert zygotes() == before
