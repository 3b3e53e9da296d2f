"""An environment whose programs the page writes, with a client of its own."""

from __future__ import annotations

from typing import Any

from openenv import Action, EnvClient, Environment, Observation, State


class Note(Action):
    """Writes something down."""

    text: str
    tags: list[str] = []
    options: dict[str, Any] = {}


class Noted(Observation):
    """All that was written down, and how the episode began."""

    notes: list[dict[str, Any]] = []
    began: dict[str, Any] = {}


class Notebook(Environment[Note, Noted, State]):
    """Keeps what it is told, exactly."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State()
        self._noted = Noted()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Noted:
        self._noted = Noted(began={"seed": seed, "episode_id": episode_id, **kwargs})
        return self._noted

    def step(self, action: Note, timeout_s: float | None = None, **kwargs: Any) -> Noted:
        notes = [*self._noted.notes, action.model_dump(exclude={"metadata"})]
        self._noted = Noted(notes=notes, began=self._noted.began, reward=float(len(notes)))
        return self._noted

    @property
    def state(self) -> State:
        return self._state


class NotebookClient(EnvClient[Note, Noted, State]):
    """Writes notes."""
