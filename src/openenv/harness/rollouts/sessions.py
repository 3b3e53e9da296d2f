"""Sessions: one episode, as a trainer gives it to a model or an agent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Protocol, runtime_checkable

from typing_extensions import TypedDict, TypeVar

from openenv.protocol.errors import Json

if TYPE_CHECKING:
    from openenv.env.tool_models import Tool
    from openenv.harness.rollouts.results import Message, ToolResult, VerifyResult
    from openenv.harness.rollouts.training import TrainingTrace


class ResourceSession(ABC):
    """One episode: what the model is told first, the tools it has, and how it went.

    A session blocks, and is used by one thread at a time; `close` may come from any other.
    """

    @abstractmethod
    def initial_messages(self) -> list[Message]:
        """The conversation before the model's first turn."""

    @abstractmethod
    def list_tools(self) -> list[Tool]:
        """The tools that may be called; none that controls the episode is among them."""

    @abstractmethod
    def call_tool(self, name: str, arguments: Json) -> ToolResult:
        """Calls a tool.

        Raises:
            KeyError: there is no such tool.
        """

    @abstractmethod
    def verify(self, transcript: list[Message], final_state: Any | None = None) -> VerifyResult:
        """Judges the episode.

        Args:
            transcript: the conversation.
            final_state: what its harness knows of it: `done`, `metrics`, `events`, `tool_trace`.
        """

    @abstractmethod
    def close(self) -> None:
        """Ends the session; twice does no harm. A call that is running in another thread ends."""


SessionT = TypeVar("SessionT", bound=ResourceSession, default=ResourceSession, covariant=True)


class ResourceSessionFactory(ABC, Generic[SessionT]):
    """Makes sessions. Trainers send factories to other processes, so one must pickle."""

    @abstractmethod
    def create(self, task: Any, seed: int | None = None, episode_id: str | None = None) -> SessionT:
        """Begins an episode.

        Args:
            task: what it is about, for example a prompt or a row of a data set.
            seed: of the episode; the same seed gives the same episode.
            episode_id: its name.
        """


class TraceEntry(TypedDict, total=False):
    """One call of an engine, as it was recorded.

    Keys: `request`, `response` as they went over the wire, `prompt_token_ids`,
    `completion_token_ids`, `completion_tokens` (their texts), `per_token_logps`, `loss_mask` (of
    prompt and completion; 1 is trained on), `reward` and `metadata`.
    """

    request: Json
    response: Json
    prompt_token_ids: list[int]
    completion_token_ids: list[int]
    completion_tokens: list[str]
    per_token_logps: list[float]
    loss_mask: list[int]
    reward: float | None
    metadata: Json


@runtime_checkable
class LoopOwningSession(Protocol):
    """A session whose agent calls the model itself; its calls are recorded on their way."""

    def wait_for_completion(self, timeout_s: float | None = ...) -> int:
        """Waits for the agent to end; its exit code.

        Raises:
            TimeoutError: it did not end in time.
        """

    def fetch_proxy_trace(self) -> list[TraceEntry]:
        """The calls that were recorded, in order."""


@runtime_checkable
class TrainableSession(Protocol):
    """A session whose agent calls the model itself, with tokens that can be trained on."""

    def wait_for_completion(self, timeout_s: float | None = ...) -> int:
        """As of `LoopOwningSession`."""

    def fetch_training_trace(self) -> TrainingTrace:
        """The turns that can be trained on, in order."""
