"""Codecs: how the values of a Gymnasium space cross the wire, and how the space itself does.

A space of the server becomes a field of a pydantic model and a description in its JSON schema; a
client restores the space from the description, and its values from the field's data.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import numpy as np
from gymnasium import Space, spaces
from pydantic import AfterValidator, Field

from openenv.gym.arrays import Arrays
from openenv.protocol.errors import ConfigurationError, Json

SpaceT = TypeVar("SpaceT", bound=Space[Any])


class Codec(ABC):
    """Between the values of a space and their data: plain values, and arrays.

    Attributes:
        space: the values' space.
    """

    space: Space[Any]

    @abstractmethod
    def read(self, data: Any) -> Any:
        """The value that some data stands for; arrays in it may be written to.

        Raises:
            ValueError: it is the data of another space (also TypeError, KeyError).
        """

    @abstractmethod
    def write(self, value: Any) -> Any:
        """The data of a value; errors as `read`."""


class SpaceCodec(Codec, Generic[SpaceT]):
    """A codec that a space settles, whole.

    Attributes:
        checked: values outside the space are refused, rather than left to the environment, as
            Gymnasium's own environments leave a `Box` to be clipped.
    """

    kind: ClassVar[type[Space[Any]]]
    checked: ClassVar[bool] = True
    space: SpaceT

    def __init__(self, space: SpaceT, path: str) -> None:
        self.space = space

    @abstractmethod
    def annotation(self, *, action: bool) -> Any:
        """The type of a model's field; one of an action refuses what is not in the space."""

    @abstractmethod
    def description(self) -> Json:
        """What `restore` needs, in JSON's own values."""

    @classmethod
    @abstractmethod
    def restore(cls, description: Json) -> SpaceT:
        """A space equal to the one that was described."""

    def field(self, *, action: bool) -> Any:
        """`annotation`, with the check of membership that an action's values need."""
        annotation = self.annotation(action=action)
        return Annotated[annotation, AfterValidator(self._member)] if action else annotation

    def _member(self, data: Any) -> Any:
        if self.checked and not self.space.contains(self.read(data)):
            raise ValueError(f"not in {self.space}")
        return data


def codec_of(space: Space[Any], path: str) -> SpaceCodec[Any]:
    """The codec of a space.

    Args:
        space: any of Gymnasium's own kinds.
        path: what the space is, for the error: `action space of CartPole-v1`.

    Raises:
        ConfigurationError: it is, or holds, a space of another kind; the text names it.
    """
    for codec in _kinds().values():
        if isinstance(space, codec.kind):
            return codec(space, path)
    raise ConfigurationError(
        f"{path} is {space!r}, a kind of space that cannot cross the wire; it takes "
        f"{', '.join(_kinds())}: wrap the environment so that it uses one of them"
    )


def described(codec: SpaceCodec[Any]) -> Json:
    """A space in JSON's own values."""
    return {"type": codec.kind.__name__, **codec.description()}


def restored(description: Json) -> Space[Any]:
    """The space that was described.

    Raises:
        ConfigurationError: it was described by a version that knows more kinds.
    """
    codec = _kinds().get(description["type"])
    if codec is None:
        raise ConfigurationError(
            f"the server describes a space of the kind {description['type']!r}, this version "
            f"knows {', '.join(_kinds())}; install the server's version of openenv-core"
        )
    space: Space[Any] = codec.restore(description)
    return space


@cache
def _kinds() -> dict[str, type[SpaceCodec[Any]]]:
    from openenv.gym import composites

    return {codec.kind.__name__: codec for codec in (*_LEAVES, *composites.CODECS)}


# ── spaces of arrays and plain values ─────────────────────────────────────────────────────────────


class DiscreteCodec(SpaceCodec[spaces.Discrete]):
    """An integer, between two bounds."""

    kind = spaces.Discrete

    def annotation(self, *, action: bool) -> Any:
        """An int; an observation beyond the bounds is the environment's own affair."""
        first = int(self.space.start)
        last = first + int(self.space.n) - 1
        shown = Field(json_schema_extra={"minimum": first, "maximum": last})
        return Annotated[int, Field(ge=first, le=last) if action else shown]

    def read(self, data: Any) -> int:
        """An int."""
        return operator.index(data)

    def write(self, value: Any) -> int:
        """An int, from numpy's or from an array of one without axes."""
        return operator.index(value)

    def description(self) -> Json:
        """Its constructor's arguments."""
        return {
            "n": int(self.space.n),
            "start": int(self.space.start),
            "dtype": self.space.dtype.name,
        }

    @classmethod
    def restore(cls, description: Json) -> spaces.Discrete:
        """Built anew."""
        return spaces.Discrete(
            description["n"], start=description["start"], **_dtype(description, "int64")
        )


class ArrayCodec(SpaceCodec[SpaceT]):
    """An array of one dtype and shape."""

    def __init__(self, space: SpaceT, path: str) -> None:
        super().__init__(space, path)
        self._arrays = arrays_in(space, path)

    def annotation(self, *, action: bool) -> Any:
        """An `NDArray` of its dtype and shape."""
        return self._arrays.annotation

    def read(self, data: Any) -> np.ndarray[Any, Any]:
        """An array of its own."""
        return self._arrays.read(data)

    def write(self, value: Any) -> np.ndarray[Any, Any]:
        """An array of the space's dtype."""
        return self._arrays.write(value)


class BoxCodec(ArrayCodec[spaces.Box]):
    """An array between two others. Values beyond the bounds are the environment's to clip."""

    kind = spaces.Box
    checked = False

    def description(self) -> Json:
        """Its bounds: a number where all elements have the same."""
        space = self.space
        return {
            "low": _bound(space.low, space.bounded_below, "-Infinity"),
            "high": _bound(space.high, space.bounded_above, "Infinity"),
            "shape": list(space.shape),
            "dtype": space.dtype.name,
        }

    @classmethod
    def restore(cls, description: Json) -> spaces.Box:
        """Built anew; that whole numbers have no bound cannot be said to the constructor."""
        dtype = np.dtype(description["dtype"])
        low, bounded_below = _bounds(description, "low", dtype)
        high, bounded_above = _bounds(description, "high", dtype)
        box = spaces.Box(low, high, description["shape"], dtype.type)
        box.bounded_below, box.bounded_above = bounded_below, bounded_above
        return box


class MultiBinaryCodec(ArrayCodec[spaces.MultiBinary]):
    """An array of zeros and ones."""

    kind = spaces.MultiBinary

    def write(self, value: Any) -> np.ndarray[Any, Any]:
        """An array of int8, from bools too."""
        return super().write(np.multiply(value, 1))

    def description(self) -> Json:
        """Its shape, a number if that is how it was given."""
        return {"n": np.asarray(self.space.n).tolist()}

    @classmethod
    def restore(cls, description: Json) -> spaces.MultiBinary:
        """Built anew."""
        return spaces.MultiBinary(description["n"])


class MultiDiscreteCodec(ArrayCodec[spaces.MultiDiscrete]):
    """An array of integers with bounds of their own."""

    kind = spaces.MultiDiscrete

    def description(self) -> Json:
        """Its constructor's arguments."""
        space = self.space
        return {
            "nvec": space.nvec.tolist(),
            "start": space.start.tolist(),
            "dtype": space.dtype.name,
        }

    @classmethod
    def restore(cls, description: Json) -> spaces.MultiDiscrete:
        """Built anew."""
        dtype: Any = np.dtype(description["dtype"]).type
        nvec, start = (np.asarray(description[name], dtype) for name in ("nvec", "start"))
        return spaces.MultiDiscrete(nvec, dtype=dtype, start=start)


class TextCodec(SpaceCodec[spaces.Text]):
    """A string of some characters."""

    kind = spaces.Text

    def annotation(self, *, action: bool) -> Any:
        """A str; an observation of another length is the environment's own affair."""
        least, most = self.space.min_length, self.space.max_length
        shown = Field(json_schema_extra={"minLength": least, "maxLength": most})
        return Annotated[str, Field(min_length=least, max_length=most) if action else shown]

    def read(self, data: Any) -> str:
        """A str."""
        return str(data)

    def write(self, value: Any) -> str:
        """A str, from numpy's too."""
        return str(value)

    def description(self) -> Json:
        """Its constructor's arguments."""
        space = self.space
        return {
            "min_length": space.min_length,
            "max_length": space.max_length,
            "charset": "".join(space.character_list),
        }

    @classmethod
    def restore(cls, description: Json) -> spaces.Text:
        """Built anew."""
        return spaces.Text(
            description["max_length"],
            min_length=description["min_length"],
            charset=description["charset"],
        )


_LEAVES: tuple[type[SpaceCodec[Any]], ...] = (
    BoxCodec,
    DiscreteCodec,
    MultiBinaryCodec,
    MultiDiscreteCodec,
    TextCodec,
)
_ARRAYS = (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)


def arrays_in(space: Space[Any], path: str, *before: int | None) -> Arrays:
    """The arrays that hold a value of a space, or many along the axes put before.

    Raises:
        ConfigurationError: its values are no arrays.
    """
    if not isinstance(space, _ARRAYS) or space.dtype is None:
        raise ConfigurationError(
            f"{path} is {space!r}, whose values do not stack to one array; use Box, Discrete, "
            "MultiBinary or MultiDiscrete there"
        )
    return Arrays(space.dtype, (*before, *(space.shape or ())))


def _dtype(description: Json, usual: str) -> Json:
    """The argument `dtype` where it is not the usual one, which every Gymnasium has."""
    dtype = description["dtype"]
    return {} if dtype == usual else {"dtype": np.dtype(dtype).type}


def _bound(bound: np.ndarray[Any, Any], bounded: np.ndarray[Any, Any], none: str) -> Any:
    """A bound in strict JSON: a text where there is none, one value where all are the same."""
    if bound.size == 0:
        return 0
    plain = np.where(bounded, bound.astype(object), none)
    return plain.flat[0] if np.all(plain == plain.flat[0]) else plain.tolist()


def _bounds(description: Json, bound: str, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """A bound for every element, and for which there is one."""
    plain = np.broadcast_to(np.asarray(description[bound], object), description["shape"])
    bounded = (plain != "Infinity") & (plain != "-Infinity")
    none = extremes(dtype)[0 if bound == "low" else 1]
    return np.where(bounded, plain, none).astype(dtype), bounded


def extremes(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest number of a dtype."""
    if dtype.kind == "f":
        return -np.inf, np.inf
    return (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
