"""The ear of a session's process: a word that comes at any moment ends its call or nothing."""

import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Iterator
from types import FrameType

import pytest

from openenv.runtime.ear import SIGNAL, Ear
from openenv.runtime.interruption import Interrupted
from openenv.runtime.pipe import INTERRUPT, read_question, sized

ROUNDS = 300


class Line:
    """A socket to an ear, and what a server says on it."""

    def __init__(self) -> None:
        self.server, self.own = socket.socketpair()
        self.requests = os.fdopen(os.dup(self.own.fileno()), "rb", buffering=0)
        self.ear = Ear(self.own.fileno(), lambda: False)

    def say(self) -> None:
        self.server.sendall(sized(INTERRUPT))

    def close(self) -> None:
        self.requests.close()
        self.server.close()
        self.own.close()


@pytest.fixture
def line() -> Iterator[Line]:
    before = signal.getsignal(SIGNAL)
    made = Line()
    yield made
    made.close()
    signal.signal(SIGNAL, before)


def spin() -> None:
    while True:
        pass


@pytest.mark.parametrize("call", [spin, lambda: time.sleep(600)], ids=["busy", "blocked"])
def test_a_word_ends_a_call(line: Line, call: object) -> None:
    assert callable(call)
    threading.Timer(0.05, line.say).start()
    with pytest.raises(Interrupted):
        line.ear.during(call)
    assert read_question(line.requests) == INTERRUPT
    assert line.ear.during(lambda: 5) == 5


def test_a_word_at_any_moment_ends_its_call_or_nothing(line: Line) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    ended = struck = 0
    for number in range(ROUNDS):
        timer = threading.Timer(number % 30 / 10_000, line.say)
        timer.start()
        try:
            line.ear.during(lambda: time.sleep(0.001))
            ended += 1
        except Interrupted:
            struck += 1
        timer.join()
        assert read_question(line.requests) == INTERRUPT
    assert ended + struck == ROUNDS
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_it_hears_where_descriptors_are_many(line: Line) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1400:
        pytest.skip("this machine allows too few descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1400), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        threading.Timer(0.05, line.say).start()
        with pytest.raises(Interrupted):
            line.ear.during(spin)
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_stray_signal_ends_nothing(line: Line) -> None:
    assert line.ear.during(lambda: 1) == 1
    os.kill(os.getpid(), SIGNAL)
    assert line.ear.during(lambda: 2) == 2


def test_what_is_awaited_is_cancelled_instead() -> None:
    before = signal.getsignal(SIGNAL)
    server, own = socket.socketpair()
    asked = threading.Event()

    def cancel() -> bool:
        asked.set()
        return True

    def wait(frame: FrameType | None = None) -> bool:
        return asked.wait(30)

    ear = Ear(own.fileno(), cancel)
    threading.Timer(0.05, lambda: server.sendall(sized(INTERRUPT))).start()
    assert ear.during(wait)
    server.close()
    own.close()
    signal.signal(SIGNAL, before)
