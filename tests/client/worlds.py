"""Environments that do on request what a client has to cope with, and their clients."""

import threading
from typing import Any
from uuid import uuid4

from openenv import Action, EnvClient, Environment, Observation, State
from openenv._flow import Flow
from openenv.client.effects import Effect, Sleep

PATIENCE_S = 10.0


class Gate:
    """Holds a step until the test lets it go on; both sides know where the other is."""

    gates: dict[str, "Gate"] = {}

    def __init__(self) -> None:
        self.name = uuid4().hex
        self.entered = threading.Event()
        self.opened = threading.Event()
        self.gates[self.name] = self

    def pass_through(self) -> None:
        self.entered.set()
        if not self.opened.wait(PATIENCE_S):
            raise TimeoutError("nobody opened the gate")

    def await_entered(self) -> None:
        assert self.entered.wait(PATIENCE_S), "the step was never begun"


class Say(Action):
    text: str = ""
    gate: str = ""
    size: int = 0


class Heard(Observation):
    text: str = ""
    step: int = 0
    seed: int | None = None


class Tally(State):
    last: str = ""


class Parrot(Environment[Say, Heard, Tally]):
    """Repeats what it hears. `raise`, `quit` and `limit` are orders; a gate holds it."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = Tally()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Heard:
        if gate := kwargs.pop("gate", None):
            Gate.gates[gate].pass_through()
        self._state = Tally(episode_id=episode_id)
        return Heard(text=f"ready {sorted(kwargs.items())}", seed=seed)

    def step(self, action: Say) -> Heard:
        if action.gate:
            Gate.gates[action.gate].pass_through()
        if action.text == "raise":
            raise ValueError("the parrot fell off its perch")
        self._state.step_count += 1
        self._state.last = action.text
        return Heard(
            text=action.text or "x" * action.size,
            step=self._state.step_count,
            reward=float(len(action.text)),
            done=action.text in ("quit", "limit"),
            truncated=action.text == "limit",
            metadata={"length": len(action.text)} if action.text else {},
        )

    @property
    def state(self) -> Tally:
        return self._state


class ParrotClient(EnvClient[Say, Heard, Tally]):
    """The parrot's client."""


class Pausing(ParrotClient):
    """Can let time pass in its own colour, so that what was sent to it arrives."""

    def pause(self, seconds: float = 0.1) -> Any:
        def flow() -> Flow[Effect, None]:
            yield Sleep(seconds)

        return self._operate("pause", flow())
