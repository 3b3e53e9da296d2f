"""Environments that do as they are told, so that tests can watch what becomes of it."""

import sys
import threading
from typing import Any, Literal, cast

from pydantic import Field

from openenv import Action, Environment, Observation, State


class Do(Action):
    """What the world shall do."""

    what: Literal[
        "say", "end", "raise", "stop", "exit", "interrupt", "wrong", "unencodable", "wait"
    ] = "say"
    text: str = ""
    number: int = Field(default=0, ge=0, le=10**9)


class Saw(Observation):
    """What came of it."""

    text: str = ""
    value: Any = None


class Whereabouts(State):
    """A state with a field of its own."""

    last: str = ""


class Gate:
    """Holds steps until a test lets them go on."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()

    def pass_through(self) -> None:
        self.entered.release()
        assert self.opened.wait(15)

    def wait_until_entered(self) -> None:
        assert self.entered.acquire(timeout=10)


class World(Environment[Do, Saw, Whereabouts]):
    """Does as it is told; one class for all hosts."""

    gate = Gate()

    def __init__(self) -> None:
        super().__init__()
        self._state = Whereabouts()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        what: str = "say",
        **options: Any,
    ) -> Saw:
        if what != "say":
            return self._do(what, "")
        self._state = Whereabouts(episode_id=episode_id)
        return Saw(text="ready", value={"seed": seed, **options})

    def step(self, action: Do) -> Saw:
        self._state.step_count += 1
        self._state.last = action.text
        return self._do(action.what, action.text)

    def _do(self, what: str, text: str) -> Saw:
        match what:
            case "raise":
                raise ValueError(text or "no such thing")
            case "stop":
                raise StopIteration
            case "exit":
                sys.exit(3)
            case "interrupt":
                raise KeyboardInterrupt
            case "wrong":
                nothing: Any = {"text": "no observation"}
                return cast("Saw", nothing)
            case "unencodable":
                return Saw(value={"inner": [1, object()]})
            case "wait":
                self.gate.pass_through()
        return Saw(text=text, reward=1.0, done=what == "end")

    @property
    def state(self) -> Whereabouts:
        if self._state.last == "no state":
            raise RuntimeError("the state is gone")
        return self._state
