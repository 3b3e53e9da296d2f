"""An environment as packages for the peer write them: its import paths, no `super().__init__()`."""

from typing import Any
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class PeerAction(Action):
    """What to say."""

    message: str


class PeerObservation(Observation):
    """What was heard."""

    heard: str = ""


class PeerState(State):
    """With a field of its own."""

    last: str = ""


class PeerEnvironment(Environment[PeerAction, PeerObservation, PeerState]):
    """Takes no keyword at reset, as the oldest packages."""

    SUPPORTS_CONCURRENT_SESSIONS: bool = True  # type: ignore[misc]  # as they annotate it

    def __init__(self) -> None:
        self._state = PeerState(episode_id=str(uuid4()), step_count=0)

    def reset(self) -> PeerObservation:
        """Begins."""
        self._state = PeerState(episode_id=str(uuid4()), step_count=0)
        return PeerObservation(heard="ready", done=False, reward=0.0)

    def step(self, action: PeerAction) -> PeerObservation:
        """Repeats."""
        self._state.step_count += 1
        self._state.last = action.message
        observation = PeerObservation(heard=action.message, reward=1.0)
        return self._apply_transform(observation)

    @property
    def state(self) -> PeerState:
        """Its own."""
        return self._state


class PeerOptions(PeerEnvironment):
    """Takes the published keywords and more."""

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> PeerObservation:
        """Begins, and says with what."""
        self._state = PeerState(episode_id=episode_id or "own", step_count=0)
        return PeerObservation(heard=f"{seed} {episode_id} {sorted(kwargs.items())}")
