"""Environment: a world with episodes, written by its author."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

from typing_extensions import TypeVar

from openenv.env import rewards
from openenv.env.direct_tools import answering_tools
from openenv.env.metadata import EnvironmentMetadata, default_metadata
from openenv.env.models import Action, Observation, State
from openenv.env.tools import check_tools, has_marks
from openenv.env.transforms import Transform
from openenv.protocol.errors import InvalidRequest, Json

if TYPE_CHECKING:
    from openenv.env.options import Options

ActT = TypeVar("ActT", bound=Action, default=Action)
ObsT = TypeVar("ObsT", bound=Observation, default=Observation)
StateT = TypeVar("StateT", bound=State, default=State)

HostKind = Literal["inline", "thread", "process", "sandbox"]


class Environment(ABC, Generic[ActT, ObsT, StateT]):
    """A world with episodes.

    An author writes `reset` and `step`, or `reset_async` and `step_async` for a world that is
    awaited. Each session gets an instance of its own, and calls into one never overlap.

    Everything else is optional: an environment that keeps no `state` of its own is given one by
    its session (`episode_id`, `step_count`), and no subclass has to call `super().__init__()`.

    Attributes:
        SUPPORTS_CONCURRENT_SESSIONS: write `False` in a class whose instances share something,
            and a server holds one session of it. Left alone it limits nothing.
        REQUIRES_SINGLE_THREAD_EXECUTOR: all instances must live on one and the same thread.
        REQUIRES_RESET: a step before the first reset, or after the episode's end, is refused
            with `RESET_REQUIRED`. Write `False` to answer such steps yourself.
        HOST: where instances live: `inline` (on the event loop; for steps of microseconds, and
            for awaited ones), `thread`, `process` (a hung or crashing step takes nobody with
            it), or `sandbox` (a process that is kept from the machine's files, network and other
            processes). `None` chooses: inline if the environment is async, else a thread.
        NETWORK: in a sandbox: its sessions use this machine's network, or reach the hosts that are
            listed (`"data.example.org"`, `"*.example.org"`, `"example.org:8443"`) through a proxy.
        MEMORY_LIMIT: in a sandbox: bytes that a session may use.
        CPU_LIMIT: in a sandbox: seconds of CPU time after which a session ends.
        OPTIONS: what its variables and resets can say; read once when a server starts, so that a
            wrong variable is told then.
        STEPS_TOOL_CALLS: `step` itself answers `ListToolsAction` and `CallToolAction`; by default
            the session lists and calls the tools.
        IS_HARNESS: an agent of its own acts in it: `turn_async` takes what it is told.
        explain_rewards: observations carry the tree of their rubric's scores, in
            `metadata["rubric"]`. `reset(explain_rewards=True)` asks for it for one episode.
    """

    SUPPORTS_CONCURRENT_SESSIONS: ClassVar[bool] = False
    REQUIRES_SINGLE_THREAD_EXECUTOR: ClassVar[bool] = False
    REQUIRES_RESET: ClassVar[bool] = True
    HOST: ClassVar[HostKind | None] = None
    NETWORK: ClassVar[bool | tuple[str, ...]] = False
    MEMORY_LIMIT: ClassVar[int] = 1 << 30
    CPU_LIMIT: ClassVar[float | None] = None
    OPTIONS: ClassVar[type[Options] | None] = None
    STEPS_TOOL_CALLS: ClassVar[bool] = False
    IS_HARNESS: ClassVar[bool] = False

    transform: Transform[ObsT] | None = None
    rubric: Callable[[Any, Any], Any] | None = None
    explain_rewards: bool = False

    _step_is_of_tools: ClassVar[bool] = False
    """Whether steps themselves answer actions of tools, also those that subclasses write."""

    def __init__(
        self,
        transform: Transform[ObsT] | None = None,
        rubric: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self.transform = transform
        self.rubric = rubric

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Lets an async environment leave out the blocking methods, and one of tools its step.

        A step answers actions of tools where it is called directly.
        """
        super().__init_subclass__(**kwargs)
        for name in ("reset", "step"):
            if overrides(cls, f"{name}_async") and not overrides(cls, name):
                setattr(cls, name, _async_only(name))
        check_tools(cls)
        if has_marks(cls) and not cls._step_is_of_tools:
            step = cls.step if overrides(cls, "step") else _tools_only
            cls.step = answering_tools(step)  # type: ignore[method-assign]

    @abstractmethod
    def reset(self, *args: Any, **kwargs: Any) -> ObsT:
        """Begins an episode.

        Written as `reset(self, seed=None, episode_id=None, **kwargs)`, or with just the keywords
        that the environment knows; a caller's other keywords are then left out.

        Args:
            *args: never given.
            **kwargs: `seed` (int ≥ 0 or None), `episode_id` (≤ 255 characters or None) and
                whatever else the caller passed.

        Returns:
            the first observation.
        """

    @abstractmethod
    def step(self, *args: Any, **kwargs: Any) -> ObsT:
        """Takes one action.

        Written as `step(self, action)` or `step(self, action, timeout_s=None, **kwargs)`.

        Args:
            *args: the action, validated.
            **kwargs: `timeout_s`, the seconds the caller will wait, where it said so.

        Returns:
            what followed, with its `reward` and whether the episode is `done`.
        """

    async def reset_async(self, *args: Any, **kwargs: Any) -> ObsT:
        """`reset` for an environment that awaits; override it to declare one."""
        return self.reset(*args, **kwargs)

    async def step_async(self, *args: Any, **kwargs: Any) -> ObsT:
        """`step` for an environment that awaits; override it to declare one."""
        return self.step(*args, **kwargs)

    @property
    def state(self) -> StateT:
        """Where the episode stands; kept by the session unless the author overrides it."""
        kept: StateT | None = self.__dict__.get("_session_state")
        return kept if kept is not None else State()  # type: ignore[return-value]

    def close(self) -> None:
        """Gives up what the environment holds. Called once, when its session ends."""

    def get_metadata(self) -> EnvironmentMetadata:
        """The environment's visiting card: by default what its package's openenv.yaml says."""
        return default_metadata(type(self), type(self).__name__)

    def render_web(self, observation: Json) -> str | None | Awaitable[str | None]:
        """How a page shows an observation, in HTML; `None` leaves it to the page.

        Called where the environment lives, right after the reset or step that gave it, and only
        when the page asks. It may be `async def`. A failure is shown in its place, and the
        episode goes on. Scripts in the HTML never run.

        Args:
            observation: its fields in JSON form, with `reward` and `done`.

        Returns:
            HTML as `str`, or None.
        """
        return None

    def web_actions(self, observation: Json) -> list[Any] | Awaitable[list[Any]]:
        """What can be done next, as buttons of the page; called as `render_web` is.

        Args:
            observation: its fields in JSON form, with `reward` and `done`.

        Returns:
            a list of `(label, action)` or `(label, action, key)`: a text, the action as a dict,
            and the key that takes it, by its name in browsers, such as `"ArrowUp"`.
        """
        return []

    def _apply_transform(self, observation: ObsT) -> ObsT:
        return observation if self.transform is None else self.transform(observation)

    def rewarded(self, action: Any, observation: ObsT) -> ObsT:
        """The observation with the rubric's score as its reward; as it is without a rubric.

        `return self.rewarded(action, observation)` is how a blocking `step` ends. Where the rubric
        fails the reward is None, and `metadata["reward_error"]` says why.
        """
        told: ObsT = rewards.rewarded(self, action, observation)
        return told

    async def rewarded_async(self, action: Any, observation: ObsT) -> ObsT:
        """The same for `step_async`, and for a `step` on the event loop (`HOST = "inline"`)."""
        told = rewards.rewarded(self, action, observation)
        final: ObsT = await told if inspect.isawaitable(told) else told
        return final

    def _apply_rubric(self, action: Any, observation: Any) -> Any:
        """The rubric's score, 0.0 without one.

        An async rubric is waited for, but on an event loop gives something to await. A rubric that
        fails gives NaN, and the session's observation says why.
        """
        return rewards.apply(self, action, observation)

    async def _apply_rubric_async(self, action: Any, observation: Any) -> float:
        score = self._apply_rubric(action, observation)
        value: float = await score if inspect.isawaitable(score) else score
        return value

    def _reset_rubric(self) -> None:
        rewards.forget_now(self)

    async def _reset_rubric_async(self) -> None:
        pending = rewards.forget(self)
        if pending is not None:
            await pending


def overrides(cls: type[Environment[Any, Any, Any]], name: str) -> bool:
    """Whether a class has its own version of one of `Environment`'s methods."""
    return getattr(cls, name) is not getattr(Environment, name)


def _tools_only(self: object, _action: object) -> Any:
    raise InvalidRequest(
        f"{type(self).__name__} takes no action but calls of its tools: "
        'CallToolAction(tool_name="...", arguments={...}), which is '
        '{"type": "call_tool", "tool_name": "...", "arguments": {}} in JSON'
    )


def _async_only(name: str) -> Callable[..., Any]:
    def blocking(self: object, *args: object, **kwargs: object) -> Any:
        raise TypeError(
            f"{type(self).__name__} is an async environment: await {name}_async() instead of "
            f"calling {name}()"
        )

    return blocking
