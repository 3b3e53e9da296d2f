"""`NDArray[dtype, shape]`: numpy arrays as fields of models.

    class Seen(Observation):
        frame: NDArray["uint8", (210, 160, 3)]
        points: NDArray["float32", (None, 4)]
        anything: NDArray["float64"] | None = None

Type checkers see `Any`, because no annotation of Python's can hold a dtype's name and sizes. Where
they should see an array, name its type and give the same as a call:

    frame: Annotated[np.ndarray[Any, np.dtype[np.uint8]], NDArray("uint8", (210, 160, 3))]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from openenv.env.arrays import Shape, fitted, numpy
from openenv.protocol.errors import ConfigurationError
from openenv.protocol.msgpack import HOLED
from openenv.protocol.tensors import is_tensor

_NO_NUMBERS = {math.inf: "Infinity", -math.inf: "-Infinity"}
_ELEMENTS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number", "c": "string"}


@dataclass(frozen=True)
class ArraySpec:
    """What the arrays of a field are. `openenv.NDArray` is this class.

    A field takes such an array as it is, and converts other arrays and nested lists where no value
    is lost (`openenv.env.arrays.fitted`). It crosses the wire as nested lists in JSON, as raw
    bytes in MessagePack; the reader's array is then a view on the frame, and read-only.

    Attributes:
        dtype: numpy's name of the dtype: bool, (u)int8 to 64, float16 to 64, complex64 or 128.
        shape: the sizes of the axes, `None` for any size; `None` for any shape.

    Raises:
        ConfigurationError: there are no such arrays, they cannot be sent, or numpy is missing.
    """

    dtype: str
    shape: Shape | None = None

    def __class_getitem__(cls, parameters: Any) -> Any:
        """The type of a field: `NDArray[dtype]` or `NDArray[dtype, shape]`."""
        given = parameters if isinstance(parameters, tuple) else (parameters,)
        if not 1 <= len(given) <= 2:
            raise ConfigurationError(
                f"NDArray[dtype, shape] takes a dtype and a shape, got {given}"
            )
        return Annotated[numpy().ndarray, cls(*given)]

    def __post_init__(self) -> None:
        np = numpy()
        try:
            dtype = np.dtype(self.dtype).newbyteorder("=")
            shape = None if self.shape is None else tuple(self.shape)
        except TypeError as error:
            raise ConfigurationError(f"NDArray: {error}") from None
        if not is_tensor(np.empty(0, dtype)):
            raise ConfigurationError(
                f"NDArray: arrays of {dtype} cannot be sent; their dtype must be bool, int, uint, "
                "float or complex, of at most 64 bits a number"
            )
        if not all(size is None or type(size) is int and size >= 0 for size in shape or ()):
            raise ConfigurationError(
                f"NDArray: a shape is a tuple of sizes, with None for any size, got {self.shape}"
            )
        object.__setattr__(self, "dtype", dtype.name)
        object.__setattr__(self, "shape", shape)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        dtype = numpy().dtype(self.dtype)
        return core_schema.no_info_plain_validator_function(
            lambda value: fitted(value, dtype, self.shape),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _as_lists, info_arg=True, when_used="json"
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Nested arrays, with the dtype and the shape beside them."""
        dtype = numpy().dtype(self.dtype)
        described: JsonSchemaValue = {"type": _ELEMENTS[dtype.kind]}
        if dtype.kind in "iu":
            limits = numpy().iinfo(dtype)
            described |= {"minimum": int(limits.min), "maximum": int(limits.max)}
        if self.shape is None:
            described = {"type": ["array", described["type"]]}
        for size in reversed(self.shape or ()):
            described = {"type": "array", "items": described}
            if size is not None:
                described |= {"minItems": size, "maxItems": size}
        shape = None if self.shape is None else list(self.shape)
        return {**described, "dtype": self.dtype, "shape": shape}


def is_array(node: Any) -> bool:
    """Whether a node of a core schema, which says how it is written, is of an array."""
    return node["serialization"].get("function") is _as_lists


def _as_lists(value: Any, info: core_schema.SerializationInfo) -> Any:
    """An array in JSON: its nested lists, which are left out where MessagePack holds it."""
    if not is_tensor(value):  # a default, say, which pydantic does not validate
        return value
    if info.context is HOLED:
        return None
    finite = value.dtype.kind != "c" and numpy().isfinite(value).all()
    return value.tolist() if finite else _texts(value.tolist())


def _texts(part: Any) -> Any:
    """Nested lists, in which the numbers that JSON has not are text, whatever the model says."""
    if isinstance(part, list):
        return list(map(_texts, part))
    if isinstance(part, complex):
        return str(part).strip("()")
    return part if math.isfinite(part) else _NO_NUMBERS.get(part, "NaN")


if TYPE_CHECKING:
    NDArray: Any
    """The type of a field of arrays: `NDArray[dtype]` or `NDArray[dtype, shape]`."""
else:
    NDArray = ArraySpec
