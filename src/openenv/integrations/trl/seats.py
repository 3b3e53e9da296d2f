"""A session of a server, in which a trainer plays one episode after another."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from openenv.client.env_client import EnvClient
from openenv.client.results import StepResult
from openenv.client.tools import ToolCallFailed
from openenv.env.tool_models import ToolErrorType
from openenv.harness.rollouts.calls import text_of, told
from openenv.harness.rollouts.client_session import ClientSession, MessagesBuilder
from openenv.harness.rollouts.results import Message, ToolResult
from openenv.harness.rollouts.rewards import REWARD_ERROR
from openenv.harness.rollouts.served import ServedSessions
from openenv.harness.rollouts.served import shown as shown_by_default
from openenv.protocol.errors import (
    ConfigurationError,
    ConnectFailed,
    EnvironmentFailed,
    Json,
    OpenEnvError,
    ReplyTimeout,
    ResetRequired,
    SessionCreationError,
    SessionLost,
)
from openenv.rollout.policies.acting import as_text

OVER = "The episode is over: no call has an effect any more."
ENDED = "The episode is over."
_AWAY = (ConnectFailed, SessionCreationError, SessionLost)
"""A server that ends, or has ended, and may begin anew."""
LOST = (*_AWAY, EnvironmentFailed, ReplyTimeout)
"""What concerns one episode. Anything else is a mistake of the set-up, and ends the run."""
_PAUSE_S = 0.25
_MOST_FAILURES = 3

AnyT = TypeVar("AnyT")
Text: TypeAlias = Callable[[Any], str | None]
"""What the model reads of an observation; `None` for nothing."""


def introduction(text: Text | None) -> MessagesBuilder:
    """Puts the first observation behind the prompt, as TRL does.

    Args:
        text: what is told of it; by default its `text`, or its fields as JSON.
    """

    def build(first: StepResult[Any], task: Any) -> list[Message]:
        told = (text or shown_by_default)(first.observation)
        messages = conversation(task)
        if told is None:
            return messages
        if not (messages and messages[-1]["role"] == "user"):
            return [*messages, {"role": "user", "content": told}]
        *before, last = messages
        return [*before, {**last, "content": f"{last['content']}\n\n{told}"}]

    return build


def conversation(task: Any) -> list[Message]:
    """A prompt as messages."""
    if task is None:
        return []
    return list(task) if isinstance(task, list) else [{"role": "user", "content": as_text(task)}]


def patiently(begin: Callable[[], AnyT], patience_s: float) -> AnyT:
    """Begins an episode, also at a server that is being started anew.

    Args:
        begin: begins it.
        patience_s: how long a server may stay away.

    Raises:
        OpenEnvError: it stayed away for longer.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return begin()
        except _AWAY:
            if time.monotonic() + _PAUSE_S > deadline:
                raise
            time.sleep(_PAUSE_S)


@dataclass(frozen=True)
class Terms:
    """What holds for all seats of an environment.

    Attributes:
        sessions: begins episodes.
        columns: columns of the dataset that are options of a reset, beside `seed`.
        idle_reward: the reward of an episode in which the model did nothing.
        patience_s: how long a reset waits for a server that does not answer, in seconds.
    """

    sessions: ServedSessions
    columns: frozenset[str] = field(default_factory=frozenset)
    idle_reward: float | None = 0.0
    patience_s: float = 60.0


class Seat:
    """One session of a server, and the episode that is played in it.

    Attributes:
        error: why the episode cannot be scored, `None` if it can.
        done: whether the episode has ended.
    """

    def __init__(self, terms: Terms) -> None:
        self.error: OpenEnvError | None = None
        self.done = False
        self._terms = terms
        self._client = terms.sessions.connect()
        self._session: ClientSession | None = None
        self._steps = self._failures = 0
        self.close = weakref.finalize(self, _close, self._client)

    def begin(self, row: Mapping[str, Any]) -> str | None:
        """Begins an episode; what the model is told of it.

        Args:
            row: the dataset's.

        Raises:
            OpenEnvError: the server does not come back, refuses such an episode, or could not
                begin the last ones either.
        """
        self._session, self.error, self.done, self._steps = None, None, False, 0
        options = self._options(row)
        sessions, client = self._terms.sessions, self._client
        try:
            self._session = patiently(
                lambda: sessions.begin(client, None, options), self._terms.patience_s
            )
        except (EnvironmentFailed, ReplyTimeout) as error:
            self._failures += 1
            if self._failures >= _MOST_FAILURES:
                raise
            self.error = error
            return None
        self._failures = 0
        messages = self._session.initial_messages()
        return str(messages[0]["content"]) if messages else None

    def call(self, name: str, arguments: Json) -> str:
        """Calls a tool; what the model reads.

        Raises:
            ToolCallFailed: the call is at fault, or the tool; the episode goes on.
            OpenEnvError: the episode is lost.
        """
        if self.error is not None:
            raise self.error
        if self.done:
            return OVER
        result = self._called(name, arguments)
        if result.error is not None:
            raise ToolCallFailed(name, result.error, ToolErrorType.EXECUTION_ERROR)
        self._steps += 1
        self.done = result.done
        return f"{text_of(result)}\n{ENDED}" if result.done else text_of(result)

    def _called(self, name: str, arguments: Json) -> ToolResult:
        if self._session is None:
            raise ResetRequired("no episode has begun: reset() begins one")
        try:
            return told(self._session, name, arguments)
        except OpenEnvError as error:
            self.error = error
            raise

    @property
    def reward(self) -> float | None:
        """The episode's reward so far; `None` where it is not known."""
        if self.error is not None:
            return None
        if self._session is None:
            return self._terms.idle_reward
        verdict = self._session.verify([])
        if verdict.env_reward is None and REWARD_ERROR not in verdict.metrics and not self._steps:
            return self._terms.idle_reward
        return verdict.env_reward

    def _options(self, row: Mapping[str, Any]) -> Json:
        absent = sorted(self._terms.columns.difference(row))
        if absent:
            raise ConfigurationError(
                f"the dataset has no column {', '.join(absent)}; it has {', '.join(sorted(row))}"
            )
        return {name: row.get(name) for name in {"seed", *self._terms.columns}}


def close_all(seats: Iterable[Seat]) -> None:
    """Ends the sessions of seats."""
    for seat in seats:
        seat.close()


def _close(client: EnvClient[Any, Any, Any]) -> None:
    with suppress(OpenEnvError):  # the server is gone, and the session with it
        client.close()
