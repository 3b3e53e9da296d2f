"""The demonstration, as a user runs it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

DEMO = Path(__file__).parent.parent.parent / "examples" / "blackjack_demo.py"


@contextmanager
def demo(*options: str) -> Iterator[subprocess.Popen[str]]:
    """The demonstration as a process."""
    command = [sys.executable, "-u", str(DEMO), *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def server_of(output: str) -> int:
    """The server's process id, as the demonstration tells it."""
    found = re.search(r"server: process (\d+)", output)
    assert found, output
    return int(found[1])


def assert_gone(pid: int) -> None:
    """Nobody is left behind under that id."""
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """What the process prints up to a line with that text."""
    assert process.stdout is not None
    output = ""
    for line in process.stdout:
        output += line
        if text in line:
            return output
    raise AssertionError(output)


def test_it_learns_and_leaves_nothing_behind() -> None:
    with demo("--quick") as process:
        output, _ = process.communicate(timeout=18)
    assert process.returncode == 0, output
    for player in ("random", "always stand", "learned", "optimal"):
        assert re.search(rf"{player} .*[-+]0\.\d+ ± 0\.\d+ .*[-+]0\.\d+", output), output
    assert "openenv serve my_env.py" in output
    assert_gone(server_of(output))


def test_it_fails_when_nothing_was_learned() -> None:
    with demo("--episodes", "1") as process:
        output, _ = process.communicate(timeout=18)
    assert process.returncode == 1, output
    assert "has not learned" in output
    assert_gone(server_of(output))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_the_server_down_too(number: signal.Signals) -> None:
    with demo("--sessions", "4") as process:
        output = read_until(process, "games/s")
        process.send_signal(number)
        rest, _ = process.communicate(timeout=15)
    assert process.returncode == 128 + number, output + rest
    assert "Traceback" not in rest
    assert_gone(server_of(output))


def test_not_even_a_kill_leaves_a_server_behind() -> None:
    with demo("--sessions", "4") as process:
        read_until(process, "games/s")
        process.kill()
        process.communicate(timeout=15)  # it ends when nobody holds the pipe, the server included
