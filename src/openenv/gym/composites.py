"""Codecs of spaces that hold other spaces."""

from __future__ import annotations

import operator
from typing import Any, Literal, Union

import numpy as np
from gymnasium import spaces
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from openenv.gym.arrays import Arrays
from openenv.gym.codecs import SpaceCodec, arrays_in, codec_of, described, restored
from openenv.protocol.errors import ConfigurationError, Json

_STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True, ser_json_inf_nan="strings")


def _record(name: str, fields: Json) -> Any:
    """The type of a dict with just those keys, whatever they are called."""
    made: Any = TypedDict
    return with_config(_STRICT)(made(name, fields))


class TupleCodec(SpaceCodec["spaces.Tuple[Any]"]):
    """A tuple."""

    kind = spaces.Tuple
    checked = False  # its parts are
    _parts: list[Any]

    def __init__(self, space: spaces.Tuple[Any], path: str) -> None:
        super().__init__(space, path)
        self._parts = [codec_of(part, f"{path}[{at}]") for at, part in enumerate(space.spaces)]

    def annotation(self, *, action: bool) -> Any:
        """A tuple of its parts."""
        made: Any = tuple
        return made[tuple(part.field(action=action) for part in self._parts)]

    def read(self, data: Any) -> tuple[Any, ...]:
        """A tuple."""
        return tuple(part.read(inner) for part, inner in zip(self._parts, list(data), strict=True))

    def write(self, value: Any) -> tuple[Any, ...]:
        """A tuple."""
        return tuple(
            part.write(inner) for part, inner in zip(self._parts, list(value), strict=True)
        )

    def description(self) -> Json:
        """Its parts' descriptions."""
        return {"spaces": [described(part) for part in self._parts]}

    @classmethod
    def restore(cls, description: Json) -> spaces.Tuple[Any]:
        """Built anew."""
        return spaces.Tuple([restored(part) for part in description["spaces"]])


class DictCodec(SpaceCodec[spaces.Dict]):
    """A dict with the space's keys, in its order.

    Attributes:
        parts: each key's codec.
    """

    kind = spaces.Dict
    checked = False  # its parts are

    def __init__(self, space: spaces.Dict, path: str) -> None:
        super().__init__(space, path)
        strange = [key for key in space.spaces if not isinstance(key, str)]
        if strange:
            raise ConfigurationError(f"{path} has the key {strange[0]!r}; keys must be text")
        self.parts = {key: codec_of(part, f"{path}[{key!r}]") for key, part in space.spaces.items()}

    def annotation(self, *, action: bool) -> Any:
        """A dict with its keys."""
        return _record(
            "Record", {key: part.field(action=action) for key, part in self.parts.items()}
        )

    def read(self, data: Any) -> dict[str, Any]:
        """A dict."""
        return {key: part.read(data[key]) for key, part in self.parts.items()}

    def write(self, value: Any) -> dict[str, Any]:
        """A dict."""
        return {key: part.write(value[key]) for key, part in self.parts.items()}

    def description(self) -> Json:
        """Its parts' descriptions."""
        return {"spaces": {key: described(part) for key, part in self.parts.items()}}

    @classmethod
    def restore(cls, description: Json) -> spaces.Dict:
        """Built anew."""
        return spaces.Dict([(key, restored(part)) for key, part in description["spaces"].items()])


class OneOfCodec(SpaceCodec["spaces.OneOf[Any]"]):
    """The index of a space, and a value of it."""

    kind = spaces.OneOf
    checked = False  # its parts are

    def __init__(self, space: spaces.OneOf[Any], path: str) -> None:
        super().__init__(space, path)
        self._parts = [codec_of(part, f"{path}[{at}]") for at, part in enumerate(space.spaces)]

    def annotation(self, *, action: bool) -> Any:
        """A union of pairs, told apart by their first."""
        pair: Any = tuple
        made: Any = Union
        return made[
            tuple(
                pair[Literal[at], part.field(action=action)] for at, part in enumerate(self._parts)
            )
        ]

    def read(self, data: Any) -> tuple[Any, Any]:
        """A pair."""
        at, inner = data
        return np.int64(at), self._parts[at].read(inner)

    def write(self, value: Any) -> tuple[int, Any]:
        """A pair."""
        at = operator.index(value[0])
        return at, self._parts[at].write(value[1])

    def description(self) -> Json:
        """Its parts' descriptions."""
        return {"spaces": [described(part) for part in self._parts]}

    @classmethod
    def restore(cls, description: Json) -> spaces.OneOf[Any]:
        """Built anew."""
        return spaces.OneOf([restored(part) for part in description["spaces"]])


class SequenceCodec(SpaceCodec[spaces.Sequence]):
    """A tuple of any length, or one array of stacked values."""

    kind = spaces.Sequence
    checked = False  # its parts are

    def __init__(self, space: spaces.Sequence, path: str) -> None:
        super().__init__(space, path)
        self._part = codec_of(space.feature_space, f"{path}[…]")
        self._stack = arrays_in(space.feature_space, f"{path}[…]", None) if space.stack else None

    def annotation(self, *, action: bool) -> Any:
        """A list of its parts, or an array of them."""
        if self._stack is not None:
            return self._stack.annotation
        made: Any = list
        return made[self._part.field(action=action)]

    def read(self, data: Any) -> Any:
        """A tuple, or an array."""
        if self._stack is not None:
            return self._stack.read(data)
        return tuple(self._part.read(inner) for inner in data)

    def write(self, value: Any) -> Any:
        """A list, or an array."""
        if self._stack is not None:
            return self._stack.write(value)
        return [self._part.write(inner) for inner in value]

    def description(self) -> Json:
        """Its part's description."""
        return {"feature": described(self._part), "stack": self.space.stack}

    @classmethod
    def restore(cls, description: Json) -> spaces.Sequence:
        """Built anew."""
        return spaces.Sequence(restored(description["feature"]), stack=description["stack"])


class GraphCodec(SpaceCodec[spaces.Graph]):
    """Nodes, edges, and which nodes each edge joins."""

    kind = spaces.Graph

    def __init__(self, space: spaces.Graph, path: str) -> None:
        super().__init__(space, path)
        self._nodes = codec_of(space.node_space, f"{path}.nodes")
        self._edges = space.edge_space and codec_of(space.edge_space, f"{path}.edges")
        self._arrays = {
            "nodes": arrays_in(space.node_space, f"{path}.nodes", None),
            "edges": arrays_in(space.edge_space or space.node_space, f"{path}.edges", None),
            "edge_links": Arrays(np.dtype(np.int32), (None, 2)),
        }

    def annotation(self, *, action: bool) -> Any:
        """A dict of arrays; there may be no edges."""
        types = {name: arrays.annotation for name, arrays in self._arrays.items()}
        optional = {name: types[name] | None for name in ("edges", "edge_links")}
        return _record("Graph", types | optional)

    def read(self, data: Any) -> spaces.GraphInstance:
        """Gymnasium's own triple."""
        return spaces.GraphInstance(**self._each("read", data))

    def write(self, value: Any) -> dict[str, Any]:
        """A dict of arrays."""
        return self._each("write", value._asdict())

    def _each(self, operation: str, data: Any) -> dict[str, Any]:
        return {
            name: None if data[name] is None else getattr(arrays, operation)(data[name])
            for name, arrays in self._arrays.items()
        }

    def description(self) -> Json:
        """The descriptions of its parts."""
        edges = self._edges
        return {"nodes": described(self._nodes), "edges": edges and described(edges)}

    @classmethod
    def restore(cls, description: Json) -> spaces.Graph:
        """Built anew."""
        edges = description["edges"]
        return spaces.Graph(restored(description["nodes"]), edges and restored(edges))


CODECS: tuple[type[SpaceCodec[Any]], ...] = (
    TupleCodec,
    DictCodec,
    OneOfCodec,
    SequenceCodec,
    GraphCodec,
)
