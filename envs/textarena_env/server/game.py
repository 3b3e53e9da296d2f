"""What every text game here offers, whoever wrote it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from textarena_env.models import TextArenaMessage


@dataclass(frozen=True)
class Answer:
    """What followed a message.

    Attributes:
        reward: what it paid to who said it.
        error: why the game did not take it, `None` if it did.
        moved: whether anything has changed.
        details: what else the game tells.
    """

    reward: float = 0.0
    error: str | None = None
    moved: bool = True
    details: dict[str, Any] = field(default_factory=dict)


class TextGame(Protocol):
    """A game that is played by saying something."""

    @property
    def current_player(self) -> int:
        """Who speaks next."""

    @property
    def turn(self) -> int:
        """Turns that were taken."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""

    @property
    def messages(self) -> list[TextArenaMessage]:
        """Everything that the current player has seen, the prompt first."""

    @property
    def open_state(self) -> dict[str, Any]:
        """What everybody may know of it."""

    def say(self, message: str) -> Answer:
        """Lets the current player say something."""
