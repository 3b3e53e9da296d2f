"""Action, Observation and State: what crosses between an agent and its environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import isfinite
from typing import Any, TypeGuard, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from openenv.env.content import content
from openenv.env.equality import held, same
from openenv.env.ndarray import is_array
from openenv.env.schemas import Node, own_nodes, reachable, schema_of
from openenv.env.validation import validator
from openenv.protocol.msgpack import attempt, pack_plain, plain
from openenv.protocol.values import FAILURES, encode, unencodable, unusual, with_lost_numbers

_STRICT = ConfigDict(
    extra="forbid",
    validate_assignment=True,
    arbitrary_types_allowed=True,
    ser_json_inf_nan="strings",
    ser_json_bytes="base64",
    val_json_bytes="base64",
)


class _Sent(BaseModel):  # noqa: PLW1641  # pydantic gives frozen ones a hash
    """What crosses the wire."""

    model_config = _STRICT

    def __eq__(self, other: object) -> bool:
        """Whether it is of the same class and holds the same; arrays are compared as a whole."""
        alike = type(self) is type(other)
        return same(held(self), held(other)) if alike else super().__eq__(other)


class Action(_Sent):
    """What an agent does. Subclass it with the environment's own fields.

    Attributes:
        metadata: anything that travels along and does not act.
    """

    metadata: dict[str, Any] = Field(default_factory=dict)


class Observation(_Sent):
    """What an agent sees after a reset or a step. Subclass it with the environment's own fields.

    Attributes:
        done: the episode has ended.
        reward: the step's reward; `None` where there is none, as after most resets.
        truncated: the episode was ended by a limit, not by its own rules. It implies `done`.
        metadata: what explains the observation and is not for the policy.
    """

    done: bool = False
    reward: bool | int | float | None = None
    truncated: bool = False
    metadata: dict[str, Any] = Field(default_factory=dict)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """The author's fields first, then what is not as usual of the others."""
        shown = list(super().__repr_args__())
        common = {name: field.get_default(call_default_factory=True) for name, field in _COMMON}
        yield from (pair for pair in shown if pair[0] not in common)
        yield from (pair for pair in shown if pair[0] in common and pair[1] != common[pair[0]])


_COMMON = list(Observation.model_fields.items())


class State(_Sent):
    """Where an episode stands. Subclass it, or just add fields: extra ones are kept.

    Attributes:
        episode_id: the episode's name, as given to `reset` or made by the session.
        step_count: steps since the last reset.
    """

    model_config = ConfigDict(extra="allow")

    episode_id: str | None = None
    step_count: int = Field(default=0, ge=0)


def is_observation(value: object) -> TypeGuard[Observation]:
    """Whether it is an observation: `isinstance` takes ten times as long on pydantic's classes."""
    return Observation in type(value).__mro__


def is_done(observation: Observation) -> bool:
    """Whether an observation ends its episode, for either reason."""
    return observation.done or is_truncated(observation)


def is_truncated(observation: Observation) -> bool:
    """Whether a limit ended the episode; a field of that name of the author's own means nothing."""
    return observation.truncated is True and "truncated" in _lifted(type(observation))


def pack(observation: Observation, binary: bool = False) -> bytes:
    """The wire form of an observation: the `data` of an `observation` reply.

    `done` and `reward` are lifted out of the observation, non-empty `metadata` is in it and
    beside it, and `truncated` stands beside it when it is true, so that readers of any version
    find what they know.

    Args:
        observation: what a reset or a step gave.
        binary: as MessagePack, not JSON.

    Raises:
        EnvironmentFailed: a field has no wire form; the text names it.
    """
    truncated = is_truncated(observation)
    done = observation.done or truncated
    if binary:
        return _pack_binary(observation, done, truncated)
    parts = [
        b'{"observation":',
        _model_json(observation, _lifted(type(observation))),
        b',"reward":',
        _number(observation.reward),
        b',"done":true' if done else b',"done":false',
    ]
    if truncated:
        parts.append(b',"truncated":true')
    if observation.metadata:
        parts += [b',"metadata":', encode(observation.metadata)]
    parts.append(b"}")
    return b"".join(parts)


def _number(reward: float | None) -> bytes:
    """The JSON of a reward, for which the usual ones need no encoder."""
    if reward is None:
        return b"null"
    if type(reward) is float and isfinite(reward):
        return repr(reward).encode()
    return encode(reward)


def _pack_binary(observation: Observation, done: bool, truncated: bool) -> bytes:
    try:
        wire = {
            "observation": content(observation, _lifted(type(observation)), binary=True),
            "reward": observation.reward,
            "done": done,
        }
        if truncated:
            wire["truncated"] = True
        if observation.metadata:
            wire["metadata"] = plain(observation.metadata)
        return pack_plain(wire)
    except FAILURES as error:
        raise unencodable(observation, error, attempt) from error


def pack_state(state: BaseModel, binary: bool = False) -> bytes:
    """The wire form of a state: the `data` of a `state` reply.

    Args:
        state: where the episode stands.
        binary: as MessagePack, not JSON.

    Raises:
        EnvironmentFailed: a field has no wire form; the text names it.
    """
    if not binary:
        return _model_json(state, frozenset())
    try:
        return pack_plain(content(state, binary=True))
    except FAILURES as error:
        raise unencodable(state, error, attempt) from error


def unpack(observation_class: type[Observation], data: dict[str, Any]) -> dict[str, Any]:
    """The fields of an observation from the `data` of a reply, of a server of any version."""
    fields = dict(data.get("observation") or {})
    fields["done"] = bool(data.get("done", False))
    fields["reward"] = data.get("reward")
    if data.get("truncated"):
        fields["truncated"] = True
    if data.get("metadata") and "metadata" in observation_class.model_fields:
        fields.setdefault("metadata", data["metadata"])
    return fields


@lru_cache(maxsize=1024)
def _lifted(observation_class: type[Observation]) -> frozenset[str]:
    """Fields that leave the nested observation; an author's own `truncated` field stays in it."""
    classes = observation_class.__mro__[: observation_class.__mro__.index(Observation)]
    own = any("truncated" in c.__dict__.get("__annotations__", {}) for c in classes)
    return frozenset({"done", "reward"} if own else {"done", "reward", "truncated"})


def _model_json(model: BaseModel, exclude: frozenset[str]) -> bytes:
    serializer = model.__pydantic_serializer__
    try:
        body = serializer.to_json(model, exclude=set(exclude), fallback=unusual)
        if not _may_hold_strangers(model):
            return body
        return with_lost_numbers(
            body,
            lambda: serializer.to_python(
                model, mode="json", exclude=set(exclude), fallback=unusual
            ),
        )
    except FAILURES as error:
        raise unencodable(model, error) from error


def _may_hold_strangers(model: BaseModel) -> bool:
    """Whether values of classes that are none of ours, and write NaN as null, may be in it."""
    return bool(getattr(model, "metadata", None)) or _has_open_fields(type(model))


@lru_cache(maxsize=1024)
def _has_open_fields(model: type[BaseModel]) -> bool:
    """Whether a field but `metadata` takes models, dataclasses or anything at all."""
    own = own_nodes(model)
    if own is None or model.model_config.get("extra") == "allow":
        return True
    fields = [field for name, field in own[1]["fields"].items() if name != "metadata"]
    return any(_is_open(node) for node in reachable(fields, schema_of(model)))


def _is_open(node: Node) -> bool:
    if node["type"] == "model" and node.get("config", {}).get("ser_json_inf_nan") != "strings":
        return True
    custom = "serialization" in node and not is_array(node)
    return custom or node["type"] in ("any", "dataclass")


ModelT = TypeVar("ModelT", bound=BaseModel)


def validate(model: type[ModelT], data: dict[str, Any]) -> ModelT:
    """A model from the wire's data, as JSON or MessagePack gave it.

    Raises:
        pydantic.ValidationError: the data does not fit.
    """
    validated: ModelT = _model_validator(model)(data)
    return validated


@lru_cache(maxsize=1024)
def _model_validator(model: type[BaseModel]) -> Callable[[dict[str, Any]], Any]:
    return validator(TypeAdapter(model))
