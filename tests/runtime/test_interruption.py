"""Calls that another thread interrupts, at any moment: no other call of the thread's is struck."""

import sys
import threading
import time

import pytest

from openenv.runtime.interruption import Interrupted, Interruptible

ROUNDS = 2000


def test_a_call_is_interrupted() -> None:
    calls = Interruptible()
    began = threading.Event()

    def strike() -> None:
        began.wait(10)
        calls.interrupt()

    def hang() -> None:
        began.set()
        while True:
            pass

    other = threading.Thread(target=strike)
    other.start()
    with pytest.raises(Interrupted):
        calls.run(hang)
    other.join()
    assert calls.run(lambda: 5) == 5


def test_interrupts_at_any_moment_strike_their_call_or_nothing() -> None:
    calls = Interruptible()
    over = threading.Event()

    def strike() -> None:
        while not over.is_set():
            calls.interrupt()
            time.sleep(0)

    other = threading.Thread(target=strike)
    other.start()
    ended = struck = 0
    try:
        for _ in range(ROUNDS):
            try:
                calls.run(lambda: sum(range(50)))
                ended += 1
            except Interrupted:
                struck += 1
            sum(range(20))  # where nothing may strike
    finally:
        over.set()
        other.join()
    assert ended + struck == ROUNDS


def test_a_call_that_swallows_it_is_waited_for_no_longer() -> None:
    calls = Interruptible()

    def deaf() -> str:
        try:
            calls.interrupt()
            while True:
                pass
        except BaseException:  # noqa: BLE001
            return "heard nothing"

    assert calls.run(deaf) == "heard nothing"


def test_calls_that_nobody_interrupts_leave_the_interpreter_at_ease() -> None:
    """One that looks for an exception in vain never comes to the end under a profiler."""
    calls = Interruptible()
    for _ in range(10):
        calls.run(lambda: None)
    seen: list[str] = []
    sys.setprofile(lambda frame, event, _: seen.append(event))
    try:
        calls.run(lambda: None)
    finally:
        sys.setprofile(None)
    assert seen


def test_only_the_call_that_is_named_is_struck() -> None:
    calls = Interruptible()
    first, second = object(), object()

    def strike_the_first() -> str:
        calls.interrupt(first)
        for _ in range(10_000):
            pass
        return "not struck"

    assert calls.run(strike_the_first, second) == "not struck"
    with pytest.raises(Interrupted):
        calls.run(strike_the_first, first)
