"""Environments written as TRL's own examples write theirs: a client each, and methods as tools.

TRL's package on the index has no examples in it, so these are of our own; what they import, call
and read is what those do.
"""

import os
import re
from typing import Any

from echo_env import EchoEnv
from echo_env.models import EchoAction
from openspiel_env import OpenSpielEnv
from openspiel_env.models import OpenSpielAction
from textarena_env import TextArenaAction, TextArenaEnv


def url_of(name: str) -> str:
    """The address of a server that is under way."""
    return os.environ[f"{name}_URL"]


class Echo:
    """Steps a client that has never been reset."""

    def __init__(self) -> None:
        self.client = EchoEnv(base_url=url_of("ECHO"))

    def reset(self, **kwargs: Any) -> None:
        """Begins anew on this side only."""
        self.reward = 0.0

    def echo(self, message: str) -> str:
        """
        Echoes the message back.

        Args:
            message: The message to echo.

        Returns:
            The echoed message.
        """
        result = self.client.step(EchoAction(message=message))
        self.reward = result.observation.reward
        return str(result.observation.echoed_message)


class Catch:
    """Catches a ball by an action's number."""

    def __init__(self) -> None:
        self.client = OpenSpielEnv(base_url=url_of("CATCH"))

    def reset(self, **kwargs: Any) -> str:
        """Begins a game; what is seen of it."""
        self.reward, self.done = 0.0, False
        return self._text(self.client.reset().observation)

    def move(self, action_id: int) -> str:
        """
        Moves the paddle.

        Args:
            action_id: 0 is left, 1 is stay, 2 is right.

        Returns:
            The game as it is then.
        """
        if self.done:
            raise ValueError("The game is over.")
        result = self.client.step(OpenSpielAction(action_id=action_id, game_name="catch"))
        self.reward, self.done = result.observation.reward or 0.0, result.observation.done
        return self._text(result.observation)

    @staticmethod
    def _text(observation: Any) -> str:
        cells = observation.info_state
        return f"{cells.index(1.0)} {max(n for n, cell in enumerate(cells) if cell)}"


class Wordle:
    """Guesses a word."""

    def __init__(self) -> None:
        self.client = TextArenaEnv(base_url=url_of("WORDLE"))

    def reset(self, **kwargs: Any) -> str:
        """Begins a game; what it says first."""
        result = self.client.reset()
        self.reward, self.done = 0.0, False
        self._said = result.observation.messages[0].content
        return "Guess a word." if self._said else ""

    def guess(self, guess: str) -> str:
        """
        Makes a guess.

        Args:
            guess: A word of five letters.

        Returns:
            What the game says to it.
        """
        if self.done:
            raise ValueError("The game is over.")
        result = self.client.step(TextArenaAction(message=f"[{guess}]"))
        said = result.observation.messages[0].content
        self.reward, self.done = float(result.reward or 0.0), result.done
        return " ".join(re.sub(r"[^GYX ]", "", said).split())[-20:]


class OneOfTwo:
    """An environment of several in one run, which ends its session between episodes."""

    def __init__(self) -> None:
        self.client: Any = None

    def _begin(self, client: Any) -> Any:
        if self.client is not None:
            self.client.close()
        self.client, self.reward = client, 0.0
        return client.reset()


class SomeEcho(OneOfTwo):
    """Echo, among others."""

    def reset(self, **kwargs: Any) -> None:
        """Begins an episode."""
        self._begin(EchoEnv(base_url=url_of("ECHO")))

    def echo(self, message: str) -> str:
        """
        Echoes the message back.

        Args:
            message: The message to echo.
        """
        result = self.client.step(EchoAction(message=message))
        self.reward = result.reward
        return str(result.observation.echoed_message)


class SomeWordle(OneOfTwo):
    """Wordle, among others."""

    def reset(self, **kwargs: Any) -> None:
        """Begins an episode."""
        self._begin(TextArenaEnv(base_url=url_of("WORDLE")))

    def guess(self, guess: str) -> str:
        """
        Makes a guess.

        Args:
            guess: A word of five letters.
        """
        result = self.client.step(TextArenaAction(message=f"[{guess}]"))
        self.reward = float(result.reward or 0.0)
        return "so"
