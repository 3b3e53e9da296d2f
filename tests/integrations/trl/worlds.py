"""Environments whose rewards, ends and failures are known."""

from typing import Any, Literal

from pydantic import Field

from openenv import Action, Environment, Observation, tool
from openenv.protocol.errors import InvalidRequest


class Guess(Action):
    """Guesses the hidden number.

    Attributes:
        number: what it may be.
        tone: how it is said.
    """

    number: int = Field(ge=0, le=9, description="what it may be")
    tone: Literal["calm", "loud"] = "calm"


class Hint(Observation):
    """How near the guess was."""

    hint: str
    seed: int | None = None


class Numbers(Environment[Guess, Hint]):
    """Hides a number: the seed's last digit. The nearer a guess, the higher its reward.

    A hit ends the episode. A guess of 9 has a reward that cannot be computed, one of 8 raises.
    The seed 13 cannot be begun, the seed 66 is refused.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    made = 0
    """How many of them there have been."""

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1

    def reset(self, seed: int | None = None, level: str = "easy", **options: Any) -> Hint:
        if seed == 13:
            raise RuntimeError("an unlucky seed")
        if seed == 66:
            raise InvalidRequest("no such seed")
        self._hidden = (seed or 0) % 10
        return Hint(hint=f"a digit, {level}, {sorted(options)}", seed=seed)

    def step(self, action: Guess) -> Hint:
        if action.number == 8:
            raise RuntimeError("the guess was an eight")
        wrong = abs(action.number - self._hidden)
        failed = {"reward_error": "nobody knows"} if action.number == 9 else {}
        return Hint(hint=f"{wrong} off", reward=1.0 - wrong / 10, done=wrong == 0, metadata=failed)


class Workshop(Environment[Action, Hint]):
    """Has tools, one of them in an unusual form, and pays for none."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed: int | None = None, **options: Any) -> Hint:
        return Hint(hint="at work")

    @tool
    def add(self, a: int, b: int = 2) -> int:
        """Add two numbers.

        Args:
            a: the first.
            b: the second.
        """
        return a + b

    @tool
    def get_reward(self) -> str:
        """A name that TRL keeps for itself."""
        return "none"

    @tool
    def fail(self) -> str:
        """Fail."""
        raise ValueError("it broke")
