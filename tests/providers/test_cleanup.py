"""What a program leaves running when it ends, forks or is ended."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, sys, threading
from openenv.protocol.errors import ProviderError
from openenv.providers.provider import Running

class Told(Running):
    def __init__(self, name, fails=None):
        self.name, self.fails = name, fails
        super().__init__()
    def logs(self, lines=50):
        return ""
    def problem(self):
        return None
    def _end(self):
        sys.stdout.write(f"stopped {self.name} by {'us' if os.getpid() == pid else 'a child'}\\n")
        sys.stdout.flush()
        if self.fails:
            raise self.fails("it hangs")

pid = os.getpid()
"""


def told(program: str) -> tuple[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + program],
        stdout=subprocess.PIPE,
        text=True,
        timeout=30,
        check=False,
    )
    return done.stdout, done.returncode


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("Told('a')", 0),
        ("Told('a'); sys.exit(3)", 3),
        ("Told('a'); os.kill(pid, signal.SIGTERM)", -15),
        ("Told('a'); os.kill(pid, signal.SIGHUP)", -1),
        ("Told('a'); os.kill(pid, signal.SIGINT)", -2),
        (
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\nTold('a'); "
            "os.kill(pid, signal.SIGTERM)",
            7,
        ),
        ("threading.Thread(target=Told, args=('a',)).start()", 0),
        ("Told('a')\nif os.fork() == 0: sys.exit(0)\nos.wait()", 0),
        ("Told('a')\nif os.fork() == 0: os.kill(os.getpid(), signal.SIGTERM)\nos.wait()", 0),
    ],
)
def test_it_is_stopped_once_by_whom_started_it(program: str, code: int) -> None:
    assert told(program) == ("stopped a by us\n", code)


def test_what_was_stopped_is_not_stopped_again() -> None:
    assert told("with Told('a'): pass") == ("stopped a by us\n", 0)
    assert told("a = Told('a'); a.stop(); a.stop()") == ("stopped a by us\n", 0)


@pytest.mark.parametrize("error", ["ProviderError", "OSError"])
@pytest.mark.parametrize(("end", "code"), [("", 0), ("os.kill(pid, signal.SIGTERM)", -15)])
def test_one_that_fails_keeps_no_other(error: str, end: str, code: int) -> None:
    program = f"Told('a', fails={error}); Told('b')\n{end}"
    assert told(program) == ("stopped a by us\nstopped b by us\n", code)


def test_one_that_could_not_be_stopped_can_be_tried_again() -> None:
    program = """
a = Told('a', fails=ProviderError)
try:
    a.stop()
except ProviderError:
    a.fails = None
a.stop()
"""
    assert told(program) == ("stopped a by us\n" * 2, 0)


def test_a_thread_that_starts_servers_needs_no_help_with_signals() -> None:
    """Only the main thread can see to signals, and it imports what starts servers."""
    program = """
thread = threading.Thread(target=Told, args=('a',))
thread.start()
thread.join()
os.kill(pid, signal.SIGTERM)
"""
    assert told(program) == ("stopped a by us\n", -15)


def test_signals_are_left_alone_as_long_as_nothing_can_run() -> None:
    program = "import openenv, openenv.core, openenv.providers, signal; "
    program += "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


def test_nothing_is_left_of_a_failed_block(tmp_path: Path) -> None:
    program = """
from openenv.providers.provider import unless_failed
try:
    with unless_failed(Told('a')):
        raise KeyboardInterrupt
except KeyboardInterrupt:
    sys.stdout.write("interrupted\\n")
with unless_failed(Told('b')):
    sys.stdout.write("fine\\n")
"""
    assert told(program) == ("stopped a by us\ninterrupted\nfine\nstopped b by us\n", 0)
