"""A signal's handler may raise anywhere: no answer is ever taken for another's (v2)."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import openenv
from tests.client.worlds import ParrotClient, Say

SOURCES = tuple(str(Path(openenv.__file__).parent / part) for part in ("client", "protocol", "_fl"))


class Struck(Exception):
    """What a trainer's alarm raises."""


@contextmanager
def striking(moment: int) -> Iterator[list[int]]:
    """Raises at one moment of the client's own code; gives how many there were.

    The moments are those at which Python runs the handlers of signals: where a function begins, and
    where a call of one that is written in C returns.
    """
    seen = [0]

    def strike(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code.co_name == "_part_from":  # a finalizer, which nobody hears
            return
        if event in ("call", "c_return") and code.co_filename.startswith(SOURCES):
            seen[0] += 1
            if seen[0] == moment:
                raise Struck

    sys.setprofile(strike)
    try:
        yield seen
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("struck", ["step", "state", "reset"])
def test_wherever_a_call_is_struck_the_next_gets_its_own_answer(url: str, struck: str) -> None:
    with ParrotClient(base_url=url) as client:
        moment, over = 0, False
        while not over:
            moment += 1
            client.reset(episode_id="before")
            calls: dict[str, Callable[[], object]] = {
                "step": lambda: client.step(Say(text="struck")),
                "state": client.state,
                "reset": lambda: client.reset(episode_id="struck"),
            }
            try:
                with striking(moment):
                    calls[struck]()
                over = True
            except Struck:
                pass
            first = client.step(Say(text=f"after {moment}")).observation
            assert first.text == f"after {moment}"
            second = client.step(Say(text=f"and {moment}")).observation
            assert (second.text, second.step) == (f"and {moment}", first.step + 1)
            assert client.state().last == f"and {moment}"
    assert moment > 50
