"""The echo itself."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from echo_env.models import EchoAction, EchoObservation
from openenv import Environment, State, tool
from openenv.env.web_html import page, said

GREETING = "Echo environment ready!"
REWARD_PER_CHARACTER = 0.1


class EchoEnvironment(Environment[EchoAction, EchoObservation, State]):
    """Answers each message with itself and pays for its length. Its episodes never end.

    A message is the action of a step, or the argument of a tool. Calls count as steps; they are
    not paid for.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # an echo needs no beginning
    HOST = "inline"  # a step computes next to nothing and never waits

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id=str(uuid4()))

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> EchoObservation:
        """Begins to count anew. There is no chance in an echo, so the seed changes nothing."""
        self._state = State(episode_id=episode_id or str(uuid4()))
        return EchoObservation(
            echoed_message=GREETING,
            reward=0.0,
            metadata={"status": "ready", "message": GREETING},
        )

    def step(
        self, action: EchoAction, timeout_s: float | None = None, **kwargs: Any
    ) -> EchoObservation:
        """Echoes the action's message."""
        length = len(self._echoed(action.message))
        return EchoObservation(
            echoed_message=action.message,
            message_length=length,
            reward=length * REWARD_PER_CHARACTER,
            metadata={"original_message": action.message, "step": self._state.step_count},
        )

    @tool
    def echo_message(self, message: str) -> str:
        """Echo a message.

        Args:
            message: the text to be echoed.
        """
        return self._echoed(message)

    @tool
    def echo_with_length(self, message: str) -> dict[str, Any]:
        """Echo a message, and tell its length in characters.

        Args:
            message: the text to be echoed.
        """
        return {"message": self._echoed(message), "length": len(message)}

    @property
    def state(self) -> State:
        """The episode's name and its number of steps."""
        return self._state

    def render_web(self, observation: dict[str, Any]) -> str | None:
        """What was said and what came back, as HTML; nothing for what a tool gives."""
        echoed = observation.get("echoed_message")
        if echoed is None:
            return None
        spoken = [said("You", echoed, mine=True)] if observation["message_length"] else []
        return page(*spoken, said("Echo", echoed))

    def _echoed(self, message: str) -> str:
        self._state.step_count += 1
        return message
