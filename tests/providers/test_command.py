"""Tools that fail, hang, fork and know secrets."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from openenv.protocol.errors import NotAvailable, NotReady, ProviderError
from openenv.providers.command import run, shown
from tests.serving import eventually

LONG_S = 15.0


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_what_a_tool_wrote() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = run(python(code), timeout_s=LONG_S, check=False)
    assert (done.stdout, done.stderr, done.code) == ("out\n", "err\n", 3)


def test_what_a_tool_reads() -> None:
    assert run(["cat"], timeout_s=LONG_S).stdout == "", "nothing, and not the terminal's input"


def test_output_that_is_no_text() -> None:
    code = r"import os; os.write(1, b'\xff\xfe')"
    assert run(python(code), timeout_s=LONG_S).stdout == "\ufffd\ufffd"


def test_a_failure_tells_no_secret() -> None:
    code = "import os, sys; sys.exit('bad token ' + os.environ['API_TOKEN'])"
    args = [*python(code), "--env=PASSWORD=hunter22", "-e", "X=y=hunter33"]
    with pytest.raises(ProviderError) as caught:
        run(args, timeout_s=LONG_S, env={"API_TOKEN": "hunter11", "SHORT": "a"})
    told = str(caught.value)
    assert "bad token …" in told
    assert "exit code 1" in told
    assert "--env=PASSWORD=… -e X=…" in told
    assert "hunter" not in told


@pytest.mark.parametrize("trusted", [True, False])
def test_who_gets_our_credentials(monkeypatch: pytest.MonkeyPatch, trusted: bool) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "hunter44")
    code = "import os; print('MY_API_TOKEN' in os.environ, os.environ['GIVEN_TOKEN'])"
    done = run(python(code), timeout_s=LONG_S, env={"GIVEN_TOKEN": "a"}, trusted=trusted)
    assert done.stdout == f"{trusted} a\n"


def test_an_address_is_told_without_its_password() -> None:
    assert shown(["git", "clone", "https://me:pw@host/x"]) == "git clone https://…@host/x"


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(NotAvailable, match="no-such-program cannot be run: No such file"):
        run(["no-such-program"], timeout_s=LONG_S)


def test_a_program_that_may_not_be_run(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("")
    with pytest.raises(NotAvailable, match="Permission denied"):
        run([str(tmp_path / "tool")], timeout_s=LONG_S)


@pytest.mark.parametrize("env", [{"A": "\0"}, {"A=B": "c"}])
def test_variables_that_no_process_can_have(env: dict[str, str]) -> None:
    with pytest.raises(ProviderError, match="cat cannot be run"):
        run(["cat"], timeout_s=LONG_S, env=env)


def test_a_tool_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    script = f"sleep 600 & echo $! > {child}.new; mv {child}.new {child}; wait"
    with pytest.raises(NotReady, match="did not end within 1 s"):
        run(["sh", "-c", script], timeout_s=1)
    eventually(lambda: not alive(int(child.read_text())))


def test_what_must_not_be_cut_off_may_finish(tmp_path: Path) -> None:
    """Ctrl-C while a container is being made: half-made, it could not be found."""
    begun, finished = tmp_path / "begun", tmp_path / "finished"
    script = f"sleep 1; touch {begun}; sleep 1; touch {finished}"  # it is waited for by then

    def interrupt() -> None:
        eventually(begun.exists)
        signal_main_thread()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(["sh", "-c", script], timeout_s=LONG_S, finish_s=LONG_S)
    thread.join()
    assert finished.exists()


def test_what_is_interrupted_is_killed_else(tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    def interrupt() -> None:
        eventually(begun.exists)
        signal_main_thread()

    thread = threading.Thread(target=interrupt)
    thread.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(["sh", "-c", f"touch {begun}; exec sleep 600"], timeout_s=600)
    thread.join()
    assert time.monotonic() - started < 300


def signal_main_thread() -> None:
    import signal

    os.kill(os.getpid(), signal.SIGINT)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False
