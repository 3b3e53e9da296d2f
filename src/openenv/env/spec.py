"""EnvSpec: what is known of an environment without running it."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, TypeAdapter

from openenv._generics import filled, type_arguments
from openenv.env.environment import Environment, HostKind, overrides
from openenv.env.metadata import description_of
from openenv.env.models import Observation, State
from openenv.env.options import Options
from openenv.env.tool_models import CallToolAction, CallToolObservation, ListToolsAction
from openenv.env.tools import tools_of
from openenv.env.validation import validator
from openenv.protocol.errors import ConfigurationError

AnyEnvironment = Environment[Any, Any, Any]
EnvironmentSource = type[AnyEnvironment] | Callable[[], AnyEnvironment] | AnyEnvironment
"""A class, a factory (function or `functools.partial`), or, for one session, an instance."""


@dataclass(frozen=True)
class Traits:
    """What a class of environments says of itself.

    Attributes:
        is_async: it overrides `reset_async` or `step_async`.
        one_session: it says that its instances must not live side by side.
        one_thread: all its instances must live on one thread.
        requires_reset: steps outside an episode are refused.
        keeps_state: it has its own `state`; otherwise the session keeps one for it.
        host: where it wants to live, `None` for the default.
        reset_keywords: the keywords its reset takes, `None` for any.
        step_keywords: likewise for step.
        network: it needs a network, or these hosts.
        memory_limit: bytes that a session may use.
        cpu_limit: seconds of CPU time that a session may use, `None` for any.
        options: what its variables and resets can say, `None` if it does not tell.
        has_tools: an agent may call some.
        steps_tool_calls: its `step` answers the calls itself.
        untyped_calls: a step that names a tool is a call of it, as no action of its own could.
        is_harness: an agent of its own acts in it.
        tool_timeouts: how long calls may run, in seconds, for the tools that say so.
    """

    is_async: bool
    one_session: bool
    one_thread: bool
    requires_reset: bool
    keeps_state: bool
    host: HostKind | None
    reset_keywords: frozenset[str] | None
    step_keywords: frozenset[str] | None
    network: bool | tuple[str, ...] = Environment.NETWORK
    memory_limit: int = Environment.MEMORY_LIMIT
    cpu_limit: float | None = Environment.CPU_LIMIT
    options: type[Options] | None = Environment.OPTIONS
    has_tools: bool = False
    steps_tool_calls: bool = Environment.STEPS_TOOL_CALLS
    untyped_calls: bool = False
    is_harness: bool = Environment.IS_HARNESS
    tool_timeouts: Mapping[str, float] = field(default_factory=dict)

    @property
    def default_host(self) -> HostKind:
        """Where instances live unless someone asks otherwise."""
        return self.host or ("inline" if self.is_async else "thread")

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(made: type[AnyEnvironment]) -> Traits:
        """Reads a class once."""
        reset = made.reset_async if overrides(made, "reset_async") else made.reset
        step = made.step_async if overrides(made, "step_async") else made.step
        has_tools = _has_tools(made)
        return Traits(
            is_async=overrides(made, "reset_async") or overrides(made, "step_async"),
            one_session=_written(made, "SUPPORTS_CONCURRENT_SESSIONS") is False,
            one_thread=made.REQUIRES_SINGLE_THREAD_EXECUTOR,
            requires_reset=made.REQUIRES_RESET,
            keeps_state=overrides(made, "state"),
            host=made.HOST,
            reset_keywords=_keywords(reset),
            step_keywords=_keywords(step),
            network=made.NETWORK,
            memory_limit=made.MEMORY_LIMIT,
            cpu_limit=made.CPU_LIMIT,
            options=made.OPTIONS,
            has_tools=has_tools,
            steps_tool_calls=made.STEPS_TOOL_CALLS,
            untyped_calls=has_tools
            and not made.STEPS_TOOL_CALLS
            and _types(made)[0] in (None, CallToolAction),
            is_harness=made.IS_HARNESS,
            tool_timeouts={t.name: t.timeout_s for t in tools_of(made) if t.timeout_s is not None},
        )

    def called_by(self, action: Any) -> Traits:
        """The traits of a class whose actions are of this class."""
        return replace(self, untyped_calls=self.untyped_calls and action is CallToolAction)


UNKNOWN = Traits(False, False, False, True, True, None, None, None)
"""The traits of a factory that does not say what it makes: nothing is known that limits it."""


@dataclass(frozen=True)
class EnvSpec:
    """What a server needs to know of an environment before it runs.

    Attributes:
        name: the class's or factory's name.
        make: builds one instance.
        action: the action's class, or a union of several.
        observation: the observation's class.
        state: the state's class.
        traits: what the class says of itself.
        shared: `make` gives one and the same instance, which outlives its sessions.
        reset_observation: the class of what a reset gives, where calls of tools give another.
        description: what the class's docstring says of it.
        made: the environment's class; `None` where a factory does not say it, nor could be tried.
    """

    name: str
    make: Callable[[], AnyEnvironment]
    action: Any
    observation: type[Observation]
    state: type[State]
    traits: Traits
    shared: bool = False
    reset_observation: type[Observation] | None = None
    description: str | None = None
    made: type[AnyEnvironment] | None = None

    @functools.cached_property
    def parse_action(self) -> Callable[[dict[str, Any]], Any]:
        """Validates the data of a step; raises `pydantic.ValidationError`."""
        return validator(TypeAdapter(self.action))

    @classmethod
    def of(
        cls,
        env: EnvironmentSource,
        action: Any = None,
        observation: type[Observation] | None = None,
        state: type[State] | None = None,
    ) -> EnvSpec:
        """Reads an environment's class, factory or instance.

        A factory that does not say what it returns is called once, to see.

        Args:
            env: what makes environments.
            action: its action class, needed where the class does not say it.
            observation: likewise.
            state: likewise; `State` by default.

        Raises:
            ConfigurationError: `env` makes no environments, or its types cannot be read.
        """
        shared = isinstance(env, Environment)
        made = type(env) if isinstance(env, Environment) else class_made_by(env)
        if made is None and (isinstance(env, type) or not callable(env)):
            raise ConfigurationError(
                f"expected an Environment class, a factory or an instance, got {env!r}"
            )
        made = made or _class_seen(env)
        if made is not None:
            _check_methods(made, built_here=env is made)
        types = _types(made) if made is not None else (None, None, None)
        traits = Traits.of(made) if made else UNKNOWN
        action, observation = action or types[0], observation or types[1]
        first = None
        if traits.has_tools:
            action = action or CallToolAction
            traits = traits.called_by(action)
            if traits.untyped_calls or observation is None:
                first, observation = _first_observation(made, observation), CallToolObservation
        elif action in (CallToolAction, ListToolsAction):
            traits = replace(traits, has_tools=True, steps_tool_calls=True)
        name = made.__name__ if made else getattr(env, "__name__", type(env).__name__)
        return cls(
            name=name,
            make=(lambda: env) if shared else env,  # type: ignore[arg-type,return-value]
            action=_fitting(_known(action, name, "action"), name, "action"),
            observation=_fitting(_known(observation, name, "observation"), name, "observation"),
            state=state or types[2] or State,
            traits=traits,
            shared=shared,
            reset_observation=first,
            description=description_of(made),
            made=made,
        )


def _unfinished(made: type[AnyEnvironment]) -> ConfigurationError:
    missing = sorted(made.__abstractmethods__)
    tools = ", or offer tools instead of step: @tool above a method" if "step" in missing else ""
    return ConfigurationError(
        f"{made.__name__} must define {', '.join(missing)} (or its _async form){tools}"
    )


def _first_observation(made: Any, declared: Any) -> type[Observation]:
    """What a reset gives, where a step is the call of a tool."""
    if declared not in (None, CallToolObservation):
        return declared  # type: ignore[no-any-return]
    reset = made.reset_async if overrides(made, "reset_async") else made.reset
    annotated: type[Observation] | None = _subclass(_hints(reset).get("return"), Observation)
    return annotated or Observation


def _known(found: Any, name: str, what: str) -> Any:
    if found is None:
        raise ConfigurationError(
            f"cannot tell the {what} class of {name}: write `class {name}(Environment[MyAction, "
            f"MyObservation])`, or pass it to create_app({name}, MyAction, MyObservation)"
        )
    return found


def _fitting(found: Any, name: str, what: str) -> Any:
    """A class that can be what it is said to be; a union is taken as it is."""
    if isinstance(found, type):
        fits = issubclass(found, BaseModel)
        if not fits or issubclass(found, Observation) is (what == "action"):
            base = "Action" if what == "action" else "Observation"
            raise ConfigurationError(
                f"the {what} class of {name} must subclass openenv.{base}, got {found!r}: write "
                f"`class {name}(Environment[MyAction, MyObservation])`, in this order"
            )
    return found


def _check_methods(made: type[AnyEnvironment], *, built_here: bool) -> None:
    """Refuses at the start what would fail in every session."""
    if inspect.isabstract(made):
        raise _unfinished(made)
    step = made.step_async if overrides(made, "step_async") else made.step
    if not _takes(step, None, None):
        raise ConfigurationError(
            f"{made.__name__}.step must take the action: def step(self, action)"
        )
    if built_here and not _takes(made):
        raise ConfigurationError(
            f"{made.__name__}() needs arguments: give them defaults, or serve a function that "
            f"passes them: def make() -> {made.__name__}"
        )


def _takes(function: Callable[..., Any], *arguments: Any) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # a signature that cannot be read
        return True
    return True


def class_made_by(env: object) -> type[AnyEnvironment] | None:
    """The class that a class, partial or annotated function makes; `None` if it does not say."""
    while isinstance(env, functools.partial):
        env = env.func
    env = typing.get_origin(env) or env
    if not isinstance(env, type):
        env = _hints(env).get("return")
        env = typing.get_origin(env) or env
    return env if isinstance(env, type) and issubclass(env, Environment) else None


def _class_seen(factory: Any) -> type[AnyEnvironment] | None:
    """The class of what a factory makes; `None` if it fails, which a session will tell."""
    try:
        product = factory()
    except Exception:  # noqa: BLE001
        return None
    if not isinstance(product, Environment):
        return None
    close: Callable[[], object] = product.close
    closed = close()
    if inspect.iscoroutine(closed):
        closed.close()
    return type(product)


def _has_tools(made: type[AnyEnvironment]) -> bool:
    listing = all(callable(getattr(made, name, None)) for name in ("list_tools", "call_tool"))
    return listing or bool(tools_of(made))


def _types(cls: type[AnyEnvironment]) -> tuple[Any, Any, Any]:
    """Action, observation and state: from `Environment[A, O, S]`, else from annotations."""
    action, observation, state = (filled(a) for a in type_arguments(cls, Environment))
    step = _hints(cls.step_async if overrides(cls, "step_async") else cls.step)
    state_getter = inspect.getattr_static(cls, "state")
    state_hint = _hints(getattr(state_getter, "fget", state_getter)).get("return")
    return (
        action or filled(step.get("action")),
        observation or _subclass(step.get("return"), Observation),
        _subclass(state, State) or _subclass(state_hint, State),
    )


def _subclass(found: Any, base: type) -> Any:
    return found if isinstance(found, type) and issubclass(found, base) else None


def _hints(function: Any) -> dict[str, Any]:
    """A function's annotations, none where they cannot be resolved."""
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        return {}


def _written(cls: type, name: str) -> object:
    """The value that some subclass of `Environment` wrote down; `None` if only inherited."""
    for base in cls.__mro__:
        if base is Environment:
            return None
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def _keywords(function: Callable[..., Any]) -> frozenset[str] | None:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(
        p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
    )
