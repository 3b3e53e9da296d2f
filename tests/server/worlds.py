"""Environments that do as they are told, so that tests can watch what becomes of it."""

import asyncio
import sys
import threading
from typing import Any, Literal, cast

from pydantic import Field, computed_field, field_validator

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


def fail(what: str, text: str) -> None:
    """Fails in a way, if it is one."""
    match what:
        case "raise":
            raise ValueError(text or "no such thing")
        case "raise-surrogate":
            raise ValueError("no file bad\udcff")
        case "stop":
            raise StopIteration
        case "exit":
            sys.exit(3)
        case "interrupt":
            raise KeyboardInterrupt


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
            case "wrong":
                nothing: Any = {"text": "no observation"}
                return cast("Saw", nothing)
            case "unencodable":
                return Saw(value={"inner": [1, object()]})
            case "wait":
                self.gate.pass_through()
            case _:
                fail(what, text)
        return Saw(text=text, reward=1.0, done=what == "end")

    @property
    def state(self) -> Whereabouts:
        if self._state.last == "no state":
            raise RuntimeError("the state is gone")
        return self._state


class Faulty(Environment[Do, Saw]):
    """The base of those that fail outside of reset and step."""

    def reset(self, **options: Any) -> Saw:
        return Saw(text="ready")

    def step(self, action: Do) -> Saw:
        return Saw(text=action.text)


class Unbuildable(Faulty):
    """Cannot be built."""

    def __init__(self) -> None:
        raise ValueError("no such level")


class ExitsWhenBuilt(Faulty):
    """Ends the process it is built in, if it may."""

    def __init__(self) -> None:
        sys.exit("no licence")


class Unclosable(Faulty):
    """Fails to close."""

    def close(self) -> None:
        raise ValueError("stuck")


class ExitsWhenClosed(Faulty):
    """Ends the process it is closed in, if it may."""

    def close(self) -> None:
        sys.exit(1)


class Picky(Do):
    """An action whose check is wrong itself."""

    @field_validator("text")
    @classmethod
    def _known(cls, text: str) -> str:
        return {"": "", "fine": "fine"}[text]


class PickyWorld(Environment[Picky, Saw]):
    """Takes `Picky` actions."""

    def reset(self, **options: Any) -> Saw:
        return Saw(text="ready")

    def step(self, action: Picky) -> Saw:
        return Saw(text=action.text)


class Sums(Saw):
    """An observation with a field that is computed, and fails to be."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ratio(self) -> float:
        return 1 / len(self.text)


class SumsWorld(Environment[Do, Sums]):
    """Gives `Sums`."""

    def reset(self, **options: Any) -> Sums:
        return Sums(text="ready")

    def step(self, action: Do) -> Sums:
        return Sums(text=action.text)


class Awaited(Environment[Do, Saw]):
    """An async world: steps that wait can overlap if nobody keeps them apart."""

    running = 0
    most = 0

    async def reset_async(self, **options: Any) -> Saw:
        return Saw(text="ready")

    async def step_async(self, action: Do) -> Saw:
        Awaited.running += 1
        Awaited.most = max(Awaited.most, Awaited.running)
        try:
            for _ in range(action.number):
                await asyncio.sleep(0)
            match action.what:
                case "raise":
                    raise ValueError(action.text)
                case "stop":
                    raise StopIteration
                case "exit":
                    sys.exit(3)
                case "interrupt":
                    raise asyncio.CancelledError
        finally:
            Awaited.running -= 1
        return Saw(text=action.text)
