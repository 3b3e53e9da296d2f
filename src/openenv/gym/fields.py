"""The fields of an action or an observation, as one value of a space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from gymnasium import Space, spaces

from openenv.gym.codecs import Codec, SpaceCodec
from openenv.gym.composites import DictCodec
from openenv.protocol.errors import Json

PartT = TypeVar("PartT", bound=Codec)


class FieldsCodec(Codec, Generic[PartT]):
    """Fields by name: the value of one of them, or a dict of values where there are several.

    Attributes:
        parts: each field's codec.
    """

    def __init__(self, parts: Mapping[str, PartT], space: spaces.Dict | None = None) -> None:
        self.parts = dict(parts)
        self._only = next(iter(parts)) if len(parts) == 1 and space is None else None
        self.space: Space[Any] = (
            self.parts[self._only].space
            if self._only is not None
            else space or spaces.Dict([(key, part.space) for key, part in self.parts.items()])
        )

    def read(self, data: Any) -> Any:
        """The value of a model or of a dict of fields."""
        fields = data if isinstance(data, dict) else vars(data)
        if self._only is not None:
            return self.parts[self._only].read(fields[self._only])
        return {key: part.read(fields[key]) for key, part in self.parts.items()}

    def write(self, value: Any) -> Json:
        """A dict of fields."""
        if self._only is not None:
            return {self._only: self.parts[self._only].write(value)}
        return {key: part.write(value[key]) for key, part in self.parts.items()}


def fields_of(codec: SpaceCodec[Any], field: str | None) -> FieldsCodec[SpaceCodec[Any]]:
    """A space's value as one field, or as fields by the keys of a `Dict` if none is named."""
    if isinstance(codec, DictCodec) and field is None:
        return FieldsCodec(codec.parts, codec.space)
    return FieldsCodec({str(field): codec})
