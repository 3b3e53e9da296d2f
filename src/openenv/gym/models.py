"""Models of a space's values: an `Action` and an `Observation` with the fields that it needs."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pydantic import BaseModel, create_model

from openenv.env.models import Action, Observation, State
from openenv.env.ndarray import NDArray
from openenv.gym.codecs import SpaceCodec, codec_of, described, restored
from openenv.gym.fields import FieldsCodec, fields_of
from openenv.gym.recipes import MadeModel, made_by
from openenv.protocol.errors import Json

SCHEMA_KEY = "gymnasium"
"""Where a model's JSON schema says which space its fields stand for."""


class SpaceAction(Action, metaclass=MadeModel):
    """A value of an action space: its fields, or one field named `action`."""

    codec: ClassVar[FieldsCodec[SpaceCodec[Any]]]


class SpaceObservation(Observation, metaclass=MadeModel):
    """A value of an observation space: its fields, or one field named `obs`."""

    codec: ClassVar[FieldsCodec[SpaceCodec[Any]]]


class RenderedState(State):
    """Where an episode stands, and what it looks like.

    Attributes:
        frame: what the environment's `render()` gives: an image of shape (height, width, 3),
            depths, or text. `None` unless a `render_mode` was asked for.
    """

    frame: NDArray[np.uint8] | NDArray[np.float32] | str | None = None


def action_model(name: str, codec: SpaceCodec[Any]) -> type[SpaceAction]:
    """The model of an action space; it refuses what is not in the space, but for a `Box`."""
    made: type[SpaceAction] = _model(SpaceAction, name, json.dumps(described(codec)), "{}")
    return made


def observation_model(name: str, codec: SpaceCodec[Any], card: Json) -> type[SpaceObservation]:
    """The model of an observation space; its schema also carries the environment's card."""
    description = json.dumps(described(codec))
    made: type[SpaceObservation] = _model(SpaceObservation, name, description, json.dumps(card))
    return made


@lru_cache(maxsize=256)
def _model(base: type[BaseModel], name: str, description: str, card: str) -> Any:
    space = restored(json.loads(description))
    codec = codec_of(space, name)
    action = issubclass(base, Action)
    field = None if _spreads(space, base) else ("action" if action else "obs")
    fields = fields_of(codec, field)
    types = {key: (part.field(action=action), ...) for key, part in fields.parts.items()}
    extra = {SCHEMA_KEY: {"space": json.loads(description), "field": field, **json.loads(card)}}
    made: Any = create_model(  # type: ignore[call-overload]  # fields by name
        f"{re.sub(r'[^0-9A-Za-z]+', '_', name)}_{'Action' if action else 'Observation'}",
        __base__=base,
        __cls_kwargs__={"json_schema_extra": extra},
        **types,
    )
    made.codec = fields
    return made_by(made, _model, base, name, description, card)


def _spreads(space: Any, base: type[BaseModel]) -> bool:
    """Whether the keys of a space can be the fields of a model: no other name is in their way."""
    return isinstance(space, spaces.Dict) and all(
        key.isidentifier()
        and not key.startswith(("_", "model_"))
        and not hasattr(base, key)
        and key not in base.model_fields
        for key in space.spaces
    )
