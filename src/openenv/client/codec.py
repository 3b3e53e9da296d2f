"""Codec: typed actions, observations and states ↔ the wire's data."""

from __future__ import annotations

from typing import Any, Generic, cast

from pydantic import BaseModel, ValidationError
from typing_extensions import TypeVar

from openenv._generics import filled, type_arguments
from openenv.client.results import StepResult
from openenv.client.tool_results import reset_class, tool_observation
from openenv.env.content import content
from openenv.env.models import Action, Observation, State, unpack, validate
from openenv.protocol.errors import ConfigurationError, Json, ProtocolError
from openenv.protocol.values import FAILURES, unencodable

_PARSERS = {"_parse_result", "_parse_state"}
_TOOL_ACTIONS = ("list_tools", "call_tool")
ActT = TypeVar("ActT", default=Any)
ObsT = TypeVar("ObsT", default=Any)
StateT = TypeVar("StateT", default=State)

_METADATA = frozenset({"metadata"})


class Codec(Generic[ActT, ObsT, StateT]):
    """Reads its types from the subclass line `class EchoEnv(EnvClient[Say, Heard, State])`.

    A subclass overrides a method only where its wire data is not its models.
    """

    _action_class: type[Any] | None = None
    _observation_class: type[Any] | None = None
    _reset_observation_class: type[Observation] | None = None
    _state_class: type[Any] = State
    _reads_msgpack = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Looks the types up once per class."""
        super().__init_subclass__(**kwargs)
        if cls.__dict__.keys() & _PARSERS and "_reads_msgpack" not in cls.__dict__:
            cls._reads_msgpack = False  # it was written for what JSON holds: text, lists
        arguments = type_arguments(cls, Codec)
        if arguments:
            action, observation, state = (filled(argument) for argument in arguments)
            cls._action_class = action or cls._action_class
            cls._observation_class = observation or cls._observation_class
            cls._state_class = state or cls._state_class

    def _data_of(self, action: ActT) -> Json:
        """The `data` of a step, also of one with tools that an override knows nothing of."""
        own = type(action) is self._action_class or not isinstance(action, BaseModel)
        of_tools = not own and getattr(action, "type", None) in _TOOL_ACTIONS
        if of_tools and not self._knows_tools():
            return Codec._step_payload(self, action)
        return self._step_payload(action)

    def _read_result(self, payload: Json) -> StepResult[ObsT]:
        """A result, also of a subclass whose parsing knows nothing of tools or of truncation."""
        of_tools = tool_observation(payload, self._observation_class)
        if of_tools is not None and not self._knows_tools():
            return step_result(of_tools, payload)
        result = self._parse_result(payload)
        if payload.get("truncated") and isinstance(result, StepResult):
            result.truncated = True
        return result

    @classmethod
    def _knows_tools(cls) -> bool:
        """Whether the class parses for itself, and what is done with tools is its actions."""
        action = cls._action_class
        of_tools = action in (None, Action) or "tool_name" in getattr(action, "model_fields", {})
        return of_tools and cls._parse_result is not Codec._parse_result

    def _step_payload(self, action: ActT) -> Json:
        """The `data` of a step: the action's fields, its metadata only if there is some."""
        if isinstance(action, BaseModel):
            empty = getattr(action, "metadata", None) == {}
            return fields_of(action, _METADATA if empty else frozenset())
        if isinstance(action, dict):
            return action
        raise ConfigurationError(
            f"step() of {type(self).__name__} takes an action model or a dict, got "
            f"{type(action).__name__}"
        )

    def _parse_result(self, payload: Json) -> StepResult[ObsT]:
        """The result in the `data` of an `observation` reply."""
        nested = observed(payload)
        observation: Any = nested
        expected = self._observation_class
        if expected is None:
            raise ConfigurationError(
                f"{type(self).__name__} does not say its types: write `class MyEnv(EnvClient["
                "MyAction, MyObservation, MyState])`, or use GenericEnvClient for plain dicts"
            )
        if _is(expected, Observation):
            expected = reset_class(expected, nested, self._reset_observation_class)
            observation = _fits(self, expected, unpack(expected, payload))
        elif _is(expected, BaseModel):
            observation = _fits(self, expected, nested)
        return step_result(observation, payload)

    def _parse_state(self, payload: Json) -> StateT:
        """The state in the `data` of a `state` reply."""
        expected = self._state_class
        state: Any = _fits(self, expected, payload) if _is(expected, BaseModel) else payload
        return cast("StateT", state)


def fields_of(model: BaseModel, exclude: frozenset[str] = frozenset()) -> Json:
    """A model's fields in wire values: as its own JSON has them, but bytes and arrays as they are.

    Raises:
        EnvironmentFailed: a field has no wire form; the text names it.
    """
    try:
        return content(model, exclude)
    except FAILURES as error:
        raise unencodable(model, error) from error


def observed(payload: Json) -> Json:
    """The fields of the observation in the `data` of a reply.

    Raises:
        ProtocolError: they are no object.
    """
    fields = payload.get("observation") or {}
    if not isinstance(fields, dict):
        raise ProtocolError(f"the server sent an observation that is a {type(fields).__name__}")
    return fields


def step_result(observation: Any, payload: Json) -> StepResult[Any]:
    """A result with everything that stands beside the observation in a reply."""
    metadata = payload.get("metadata") or observed(payload).get("metadata")
    return StepResult(
        observation,
        _reward(payload.get("reward")),
        bool(payload.get("done", False)),
        metadata or None,
        bool(payload.get("truncated", False)),
    )


def _reward(value: Any) -> Any:
    """A reward, of which NaN and infinities come as text."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        raise ProtocolError(f"the server sent a reward that is no number: {value[:80]!r}") from None


def _is(expected: Any, base: type) -> bool:
    """Whether a type is a class of models; `dict[str, Any]` is none, and no class either."""
    return isinstance(expected, type) and issubclass(expected, base)


def _fits(codec: object, model: type[Any], data: Json) -> Any:
    try:
        return validate(model, data)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:5]
        )
        raise ProtocolError(
            f"the server's answer is no {model.__name__} ({faults}); is {type(codec).__name__} the "
            "client of this environment, and of this version of it?"
        ) from error
