"""The executor: what code gives, what lasts, and what a caller is told."""

import select
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv.executor import CodeResult, ExecutorFailed, ExecutorLimits, PythonExecutor
from openenv.protocol.errors import ConcurrentCall, ConfigurationError
from openenv.runtime.confine import probe

THREAD = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
PLOT = """
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.figure()
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[PythonExecutor]:
    with PythonExecutor(limits=ExecutorLimits(timeout_s=60)) as executor:
        yield executor


@pytest.fixture
def executor(shared: PythonExecutor) -> PythonExecutor:
    shared.reset()
    return shared


class TestValues:
    @pytest.mark.parametrize(
        ("code", "value"),
        [
            ("5 + 3", "8"),
            ("'abc'", '"abc"'),
            ("'ünï'", '"ünï"'),
            ("[1, 2.5, None, True]", "[1, 2.5, null, true]"),
            ("{'a': (1, 2)}", '{"a": [1, 2]}'),
            ("{1, 2}", "{1, 2}"),
            ("float('nan')", "nan"),
            ("x = 5 + 3", None),
            ("None", None),
            ("def f(): pass", None),
            ("x = 1; x", "1"),
            ("for i in range(3): i", None),
            ("__name__", '"__main__"'),
            ("import asyncio\nawait asyncio.sleep(0, 7)", "7"),
        ],
    )
    def test_the_last_expression_is_the_value(
        self, executor: PythonExecutor, code: str, value: str | None
    ) -> None:
        assert executor.run(code).value == value

    def test_what_python_can_do_code_can(self, executor: PythonExecutor) -> None:
        code = (
            "import dataclasses, json, pickle\n"
            "@dataclasses.dataclass\nclass P:\n    x: int\n"
            "def gen():\n    y = yield 1\n    return y\n"
            "match pickle.loads(pickle.dumps(P(3))):\n    case P(x=x): pass\n"
            "first, *rest = range(x)\n"
            "print(first, rest, sep='|', end='!')\n(n := 4) + len([*gen()])"
        )
        result = executor.run(code)
        assert (result.stdout, result.value, result.exit_code) == ("0|[1, 2]!", "5", 0)

    def test_output_is_what_was_printed_and_the_value(self, executor: PythonExecutor) -> None:
        assert executor.run("print('a'); 5").output == "a\n\n5"
        assert executor.run("5").output == "5"
        assert executor.run("x = 5").output == ""


class TestState:
    def test_it_lasts_until_reset(self, executor: PythonExecutor) -> None:
        executor.run("x = 6\ndef f(n): return n * x")
        executor.run("x = 7\n1 / 0\nx = 8")
        assert executor.run("f(6)").value == "42"
        executor.reset()
        assert executor.run("'x' in dir()").value == "false"

    def test_files_last_until_reset(self, executor: PythonExecutor) -> None:
        executor.run("open('notes.txt', 'w').write('x')")
        assert executor.run("import os; os.listdir()").value == '["notes.txt"]'
        executor.reset()
        assert executor.run("import os; os.listdir()").value == "[]"

    def test_modules_that_it_writes_can_be_imported(self, executor: PythonExecutor) -> None:
        executor.run("open('mine.py', 'w').write('x = 3')")
        assert executor.run("import mine; mine.x").value == "3"

    @pytest.mark.parametrize("end", ["while True: pass", "import os; os._exit(3)"])
    def test_what_ends_the_interpreter_says_so_once(
        self, executor: PythonExecutor, end: str
    ) -> None:
        executor.run("x = 1")
        assert executor.run(end, timeout_s=0.5).restarted
        after = executor.run("'x' in dir()")
        assert (after.value, after.restarted) == ("false", False)

    def test_a_death_between_two_calls_is_told(self, executor: PythonExecutor) -> None:
        result = executor.run(
            "import os, threading\nthreading.Timer(0.1, os._exit, [0]).start()\nthreading.Event()"
        )
        assert not result.restarted
        while not executor.run("x = 1").restarted:
            pass
        assert not executor.run("x").restarted

    def test_what_is_printed_between_two_calls_is_dropped(self, executor: PythonExecutor) -> None:
        executor.run("import os, threading")
        assert executor._interpreter is not None
        printed = False
        while not printed:  # again, if it was printed before the call was over
            executor.run("threading.Timer(0.1, os.write, [1, b'late']).start()")
            printed = bool(select.select([executor._interpreter.stdout], [], [], 3)[0])
        assert executor.run("print('mine')").stdout == "mine\n"

    def test_two_executors_share_nothing(self, executor: PythonExecutor) -> None:
        with PythonExecutor(limits=ExecutorLimits(timeout_s=60)) as other:
            executor.run("x = 1")
            assert other.run("x").error is not None


class TestOutput:
    def test_streams_are_real(self, executor: PythonExecutor) -> None:
        code = (
            "import os, subprocess, sys\nos.write(1, b'raw ')\n"
            "subprocess.run('echo child; echo oh >&2', shell=True)\nprint('own', file=sys.stderr)"
        )
        result = executor.run(code)
        assert (result.stdout, result.stderr) == ("raw child\n", "oh\nown\n")

    def test_what_is_printed_before_an_error_is_kept(self, executor: PythonExecutor) -> None:
        result = executor.run("print('before'); raise ValueError('ünï')")
        assert result.stdout == "before\n"
        assert result.stderr.endswith("ValueError: ünï\n")

    def test_it_is_cut_at_the_limit(self) -> None:
        with PythonExecutor(limits=ExecutorLimits(output_bytes=10, timeout_s=60)) as executor:
            result = executor.run(
                "import sys\nprint('ä' * 8)\nprint('e' * 20, file=sys.stderr)\n'v' * 20"
            )
            assert (result.stdout, result.stderr, result.value) == (
                "ä" * 5,
                "e" * 10,
                '"' + "v" * 9,
            )
            assert result.truncated == ("stdout", "stderr", "value")
            assert executor.run("print('short'); 1").truncated == ()


class TestErrors:
    def test_a_traceback_shows_the_callers_code_alone(self, executor: PythonExecutor) -> None:
        executor.run("import json\ndef f(text):\n    return json.loads(text)")
        result = executor.run("x = 1\nf('{')")
        assert result.error is not None
        assert (result.error.type, result.error.line) == ("JSONDecodeError", 2)
        lines = result.error.traceback.splitlines()
        assert [line.strip() for line in lines if "File" in line] == [
            'File "<cell 2>", line 2, in <module>',
            'File "<cell 1>", line 3, in f',
        ]
        assert "    return json.loads(text)" in lines
        assert result.stderr == result.error.traceback

    def test_what_an_error_came_of_is_shown(self, executor: PythonExecutor) -> None:
        result = executor.run(
            "try:\n    1 / 0\nexcept Exception as e:\n    raise KeyError('x') from e"
        )
        assert "ZeroDivisionError" in result.stderr and "direct cause" in result.stderr

    def test_a_syntax_error_has_its_line(self, executor: PythonExecutor) -> None:
        result = executor.run("x = 1\ny = = 2")
        assert result.error is not None
        assert (result.error.type, result.error.line) == ("SyntaxError", 2)
        assert 'File "<cell 1>", line 2' in result.stderr

    def test_a_thread_that_prints_on_does_not_hold_up_what_follows(
        self, executor: PythonExecutor
    ) -> None:
        code = (
            "import os, threading\n"
            "def print_on():\n    while True: os.write(1, b'x' * 4096)\n"
            "threading.Thread(target=print_on, daemon=True).start()"
        )
        assert executor.run(code).exit_code == 0
        assert executor.run("6 * 7").value == "42"

    def test_long_ones_are_cut(self, executor: PythonExecutor) -> None:
        result = executor.run("def f(n): return g(n)\ndef g(n): return f(n)\nf(1)")
        assert result.error is not None and result.error.type == "RecursionError"
        assert len(result.stderr) < 5000

    def test_time_that_is_over(self, executor: PythonExecutor) -> None:
        result = executor.run("print('a', end='')\nwhile True: pass", timeout_s=0.5)
        assert (result.exit_code, result.timed_out, result.stdout) == (124, True, "a")
        assert result.error is not None and result.error.type == "Timeout"
        assert "0.5 s" in result.error.message

    def test_memory_that_is_gone_is_given_back(self) -> None:
        limits = ExecutorLimits(memory_bytes=128 << 20, timeout_s=60)
        with PythonExecutor(limits=limits) as executor:
            executor.run("x = []")
            result = executor.run("while True: x.append(bytearray(1 << 22))")
            assert (result.exit_code, result.out_of_memory, result.restarted) == (1, True, True)
            one = executor.run("y = 1\nbytearray(1 << 40)")
            assert (one.out_of_memory, one.restarted) == (True, False)
            assert executor.run("y").value == "1"


class TestArtefacts:
    def test_files_that_were_written(self, executor: PythonExecutor) -> None:
        code = (
            "import os\nos.mkdir('d')\nopen('d/a.csv', 'w').write('1,2')\n"
            "open('.hidden', 'w').write('x')\nos.mkfifo('pipe')\n"
            "os.symlink('/etc/passwd', 'link')\nopen('b.bin', 'wb').write(b'\\0')"
        )
        found = executor.run(code).artefacts
        assert [(each.name, each.mime_type, each.content) for each in found] == [
            ("b.bin", "application/octet-stream", b"\0"),
            ("d/a.csv", "text/csv", b"1,2"),
        ]
        assert executor.run("1").artefacts == ()
        changed = executor.run("open('b.bin', 'ab').write(b'!')").artefacts
        assert [each.content for each in changed] == [b"\0!"]

    def test_they_are_bounded(self) -> None:
        limits = ExecutorLimits(artefacts=2, artefact_bytes=100, timeout_s=60)
        with PythonExecutor(limits=limits) as executor:
            many = executor.run("for i in range(5): open(f'{i}.txt', 'w').write('x')")
            assert len(many.artefacts) == 2 and many.truncated == ("artefacts",)
            large = executor.run("open('big', 'w').write('x' * 101)")
            assert large.artefacts == () and large.truncated == ("artefacts",)

    @pytest.mark.timeout(100)
    def test_figures(self) -> None:
        pytest.importorskip("matplotlib")
        limits = ExecutorLimits(timeout_s=60)
        with PythonExecutor(limits=limits, preload=["matplotlib.pyplot"]) as executor:
            found = executor.run(PLOT).artefacts
            assert [each.name for each in found] == ["figure-1.png", "figure-2.png"]
            assert all(each.content.startswith(b"\x89PNG") for each in found)
            assert executor.run("plt.get_fignums()").value == "[]"
            assert [each.name for each in executor.run(PLOT).artefacts][0] == "figure-3.png"


class TestOptions:
    def test_imports(self) -> None:
        with PythonExecutor(
            imports=["json"], setup="import os as _os\ndef here(): return _os.getcwd()"
        ) as executor:
            assert (
                executor.run("import json\nfrom json import decoder\njson.dumps(1)").exit_code == 0
            )
            for code in ("import os", "from os.path import join", "exec('import os', {})"):
                result = executor.run(code)
                assert "ImportError: import of 'os" in result.stderr
                assert "allowed: json" in result.stderr
            assert executor.run("here()").exit_code == 0

    def test_setup(self) -> None:
        with PythonExecutor(setup="print('unseen')\nanswer = 42") as executor:
            assert executor.run("answer").value == "42"
            executor.reset()
            assert executor.run("answer").output == "42"

    @pytest.mark.skipif("mountns" not in probe(), reason="only one's own user reads the files")
    @pytest.mark.parametrize("begin", ["", THREAD])
    def test_preloaded_modules_are_there_whole(
        self, begin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "own_pkg").mkdir()
        (tmp_path / "own_pkg/__init__.py").write_text(f"{begin}\nx = 1")
        (tmp_path / "own_pkg/later.py").write_text("y = 2")
        (tmp_path / "answers.py").write_text("secret = 3")
        monkeypatch.syspath_prepend(tmp_path)
        with PythonExecutor(preload=["own_pkg"]) as executor:
            assert executor.run("import own_pkg, own_pkg.later as later\nlater.y").value == "2"
            assert executor.run("import answers").exit_code == 1

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"setup": "1 / 0"}, "setup: ZeroDivisionError"),
            ({"setup": "import os; os._exit(3)"}, "exit code 3"),
            ({"preload": ["no_such_module"]}, "preload='no_such_module' cannot be imported"),
        ],
    )
    def test_what_cannot_begin_says_why(self, options: dict[str, str], why: str) -> None:
        with PythonExecutor(**options) as executor:  # type: ignore[arg-type]
            for _ in range(2):
                with pytest.raises(ExecutorFailed, match=why):
                    executor.run("1")

    @pytest.mark.parametrize("option", ["imports", "preload"])
    @pytest.mark.parametrize("names", ["math", [1], [""]])
    def test_names_of_modules_that_are_none(self, option: str, names: Any) -> None:
        with pytest.raises(ConfigurationError, match=f"{option} must be names of modules"):
            PythonExecutor(**{option: names})

    @pytest.mark.parametrize("limits", [{"timeout_s": 0}, {"processes": 1.5}, {"memory_bytes": -1}])
    def test_limits_that_are_none(self, limits: dict[str, int]) -> None:
        with pytest.raises(ConfigurationError, match=f"ExecutorLimits.{[*limits][0]} must be"):
            ExecutorLimits(**limits)

    @pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), float("inf")])
    def test_times_that_are_none(self, executor: PythonExecutor, timeout_s: float) -> None:
        with pytest.raises(ConfigurationError, match="timeout_s must be"):
            executor.run("1", timeout_s=timeout_s)

    def test_code_of_its_own_environment_is_out_of_reach(
        self, executor: PythonExecutor, tmp_path: Path
    ) -> None:
        (tmp_path / "answers.txt").write_text("secret")
        told = executor.run(f"open({str(tmp_path / 'answers.txt')!r}).read()")
        assert told.error is not None
        assert executor.sandbox["level"] != "none" or told.value is None

    def test_variables_are_few(
        self, executor: PythonExecutor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_TOKEN", "secret")
        seen: CodeResult = executor.run("import os\nsorted(os.environ)")
        assert seen.value is not None
        assert "TOKEN" not in seen.value and "PYTHONPATH" not in seen.value

    def test_sets_have_the_same_order_everywhere(self) -> None:
        code = "''.join({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'})"
        orders = set()
        for setup in ("x = 1", "x = 2"):  # another zygote each
            with PythonExecutor(setup=setup) as executor:
                orders.add(executor.run(code).value)
        assert len(orders) == 1


class TestTurns:
    def test_calls_that_overlap_are_refused(self, executor: PythonExecutor) -> None:
        refused: list[BaseException] = []

        def again() -> None:
            try:
                inner.run("1")
            except ConcurrentCall as error:
                refused.append(error)

        with PythonExecutor(tools={"again": again}) as inner:
            assert inner.run("again(); 5").value == "5"
        assert len(refused) == 1

    def test_a_closed_one_runs_nothing(self) -> None:
        executor = PythonExecutor()
        executor.close()
        executor.close()
        with pytest.raises(ExecutorFailed, match="closed"):
            executor.run("1")
        with pytest.raises(ExecutorFailed, match="closed"):
            executor.reset()
