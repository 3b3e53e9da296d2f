"""Served environments as SkyRL's text environments.

```python
import skyrl_gym
from openenv.integrations.skyrl import text_env

skyrl_gym.register("echo", entry_point=text_env(URL, lambda text: {"message": text}))
```

Needs SkyRL's package `skyrl-gym`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.harness.rollouts.rewards import in_words
from openenv.harness.rollouts.rollout_errors import RewardInvalid
from openenv.protocol.errors import InvalidRequest, Json
from openenv.protocol.extras import needs
from openenv.rollout.policies.acting import as_text, seen

Messages = list[dict[str, str]]


def text_env(made: str | Callable[[], Any], action: Callable[[str], Any]) -> type[Any]:
    """A `BaseTextEnv` that plays an environment, a session for each rollout.

    The first observation is the last message of the prompt. What a row of the data has under
    `reset` (`{"seed": 7}`) is given to the reset. A model whose text is no action is told so and
    may try again; a turn is spent, and nothing earned.

    Args:
        made: the server's address; or what makes a client, as
            `partial(EchoEnv.from_docker_image, "echo-env:latest")`.
        action: what a text of the model means: an action of the client, a dict where `made` is an
            address. Raises `ValueError` where it means none.

    Raises:
        MissingPackage: skyrl-gym is not installed.
    """
    with needs("skyrl-gym"):
        from skyrl_gym.envs.base_text_env import BaseTextEnv  # type: ignore[import-not-found]

    class TextEnv(BaseTextEnv):  # type: ignore[misc]
        """One rollout."""

        def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
            super().__init__()
            said = dict(extras or {})
            self.max_turns = said.get("max_turns") or float("inf")
            self._options: Json = said.get("reset") or {}
            self._episode = TextEpisode(made, action)

        def init(self, prompt: Messages) -> tuple[Messages, Json]:
            """Begins the episode."""
            return [*prompt, self._episode.begin(self._options)], {}

        def step(self, action: str) -> Json:
            """Takes the model's turn."""
            self.turns += 1
            told = self._episode.step(action)
            return {**told, "done": told["done"] or self.turns >= self.max_turns}

        def close(self) -> None:
            """Frees the session, and stops a server that was started for it."""
            self._episode.close()

    return TextEnv


class TextEpisode:
    """An episode whose actions and observations are texts; blocking, in any thread.

    Args:
        made: as of `text_env`.
        action: likewise.
    """

    def __init__(self, made: str | Callable[[], Any], action: Callable[[str], Any]) -> None:
        self._made = made
        self._action = action
        self._client: Any = None

    def begin(self, options: Json) -> dict[str, str]:
        """The first observation, as a message."""
        self.close()
        made = (
            GenericEnvClient(base_url=self._made) if isinstance(self._made, str) else self._made()
        )
        self._client = made.sync()
        return _message(self._client.reset(**options))

    def step(self, text: str) -> Json:
        """What followed a text, in the form of SkyRL's steps.

        Raises:
            RewardInvalid: its reward is not known. SkyRL has no place for that, and 0 would be
                learnt from.
        """
        result = self._taken(text)
        if isinstance(result, str):
            told = {"role": "user", "content": f"That is no action: {result}"}
            return _step(told, 0.0, False, {"invalid_action": True})
        reward = result.reward or 0.0
        if result.reward_error is not None or not math.isfinite(reward):
            failure = result.reward_error or f"it is {reward}"
            raise RewardInvalid(f"the reward of a step is not known: {in_words(failure)}")
        return _step(_message(result), reward, result.done, {"truncated": result.truncated})

    def close(self) -> None:
        """Ends the session."""
        if self._client is not None:
            self._client.close()

    def _taken(self, text: str) -> StepResult[Any] | str:
        """A step's result; or why the text is no action."""
        try:
            action = self._action(text)
        except ValueError as error:
            return str(error)
        try:
            result: StepResult[Any] = self._client.step(action)
        except InvalidRequest as error:
            if error.code != InvalidRequest.code:
                raise
            return str(error)
        return result


def _step(seen: dict[str, str], reward: float, done: bool, metadata: Json) -> Json:
    return {"observations": [seen], "reward": reward, "done": done, "metadata": metadata}


def _message(result: StepResult[Any]) -> dict[str, str]:
    found = result.observation
    plain = found if isinstance(found, dict) else found.model_dump(mode="json")
    return {"role": "user", "content": as_text(seen(plain))}
