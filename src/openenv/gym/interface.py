"""Interface: what Gymnasium's side sees of an environment that a client talks to."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from gymnasium import Space
from pydantic import BaseModel, TypeAdapter

from openenv._generics import filled, type_arguments
from openenv.client.codec import Codec as ClientCodec
from openenv.client.conversation import persistently
from openenv.client.effects import Sleep
from openenv.client.endpoint import Endpoint
from openenv.client.env_client import EnvClient
from openenv.client.fetching import fetched
from openenv.client.results import StepResult
from openenv.env.models import Action, Observation
from openenv.gym.codecs import codec_of, restored
from openenv.gym.derived import derived
from openenv.gym.fields import FieldsCodec, fields_of
from openenv.gym.models import SCHEMA_KEY, action_model
from openenv.protocol.errors import ConfigurationError, ConnectFailed, Json, ProtocolError
from openenv.server.info import json_schema

Mapped = tuple[Space[Any], Callable[[Any], Any]]
"""A space, and the function of the user's that leads to its values, or from them."""

AnyClient = EnvClient[Any, Any, Any]
Check = Callable[[Json], object]
"""Raises ValueError for an action's fields that are not in its space."""


class Interface:
    """Between a client's results and Gymnasium's values.

    Attributes:
        observation_space: of what `observed` gives.
        action_space: of what `payload` takes.
        card: what a served Gymnasium environment says of itself: `spec`, `metadata`.
    """

    def __init__(
        self, client: AnyClient, observation: Mapped | None = None, action: Mapped | None = None
    ) -> None:
        model, schemas = _published(client)
        shown = schemas["observation"]
        self.card: Json = shown.get(SCHEMA_KEY) or {}
        self._client, self._title = client, str(shown.get("title", type(client).__name__))
        self._rest: tuple[str, ...] = ()
        if observation is None:
            codec, self._rest = _observation_fields(shown)
            observation = codec.space, partial(_read, codec)
        if action is None:
            fields, check = _action_fields(schemas["action"])
            action = fields.space, partial(_write, fields, model, check)
        self.observation_space, self._read = observation
        self.action_space, self._write = action

    @cached_property
    def name(self) -> str:
        """The environment's, as Gymnasium lets one be called; asked of a server that can tell."""
        name = self.card.get("spec", {}).get("id") or _named(self._client)
        return re.sub(r"[^\w.:-]", "-", name or re.sub(r"_?Observation$", "", self._title))

    def observed(self, result: StepResult[Any]) -> tuple[Any, Json]:
        """The observation's value, and the info: metadata, and fields that no space can hold.

        Raises:
            ProtocolError: the observation is not of the space that was published.
        """
        observation = result.observation
        info = {name: _field(observation, name) for name in self._rest}
        return self._read(observation), info | (result.metadata or {})

    def payload(self, action: Any) -> Any:
        """What the client's `step` takes.

        Raises:
            ConfigurationError: the action is not of the space.
        """
        return self._write(action)


def _field(observation: Any, name: str) -> Any:
    return observation.get(name) if isinstance(observation, dict) else getattr(observation, name)


def _read(codec: FieldsCodec[Any], observation: Any) -> Any:
    """The value of an observation, in the client's model or as a dict."""
    try:
        return codec.read(observation)
    except (ValueError, TypeError, KeyError) as error:
        raise ProtocolError(
            f"the observation {str(observation)[:200]} is not in {codec.space}: {error!r}"
        ) from error


def _write(
    codec: FieldsCodec[Any], model: TypeAdapter[Any] | None, check: Check, action: Any
) -> Any:
    """An action as the client's model, or as a dict if it has none."""
    try:
        written = codec.write(action)
        check(written)
        return written if model is None else model.validate_python(written)
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(
            f"the action {action!r} is not in {codec.space}: {error}"
        ) from error


def _published(client: AnyClient) -> tuple[TypeAdapter[Any] | None, Json]:
    """The action's model, if there is one, and the schemas of what a client's server takes."""
    local = getattr(client, "_spec", None)
    if local is not None:
        action, observation = local.action, local.observation
    else:
        action, observation, _ = map(filled, type_arguments(type(client), ClientCodec))
    if action is not None and isinstance(observation, type) and issubclass(observation, BaseModel):
        schemas = {"action": json_schema(action), "observation": json_schema(observation)}
        return TypeAdapter(action), schemas
    return None, _persistently_fetched(client._endpoint, "/schema")


def _named(client: AnyClient) -> str | None:
    """What the environment itself is called, if a server or a local client knows."""
    local = getattr(client, "_spec", None)
    if local is not None:
        return str(local.name)
    try:
        card = fetched(client._endpoint, "/metadata")
    except ConnectFailed:
        return None
    name = card.get("name") if isinstance(card, dict) else None
    return name if isinstance(name, str) else None


def _persistently_fetched(endpoint: Endpoint, path: str) -> Json:
    """What a server says, asked as often, and after the same pauses, as to open a connection."""
    attempts = persistently(endpoint.connect_retries)
    wanted = next(attempts)
    while True:
        if isinstance(wanted, Sleep):
            time.sleep(wanted.seconds)
            wanted = next(attempts)
        try:
            return fetched(endpoint, path)
        except ConnectFailed as error:
            wanted = attempts.throw(error)


def _observation_fields(schema: Json) -> tuple[FieldsCodec[Any], tuple[str, ...]]:
    """The codec of an observation, and the names of the fields that it leaves to the info."""
    if known := _restored(schema, "observation"):
        return known, ()
    parts = _derived(schema, Observation)
    codecs = {name: part for name, part in parts.items() if part is not None}
    if not codecs:
        raise ConfigurationError(
            f"no field of {schema.get('title', 'the observation')} says bounds that a Gymnasium "
            f"space could have (fields: {', '.join(parts) or 'none'}); pass observation=(space, "
            "function of the observation)"
        )
    return FieldsCodec(codecs), tuple(name for name, part in parts.items() if part is None)


def _action_fields(schema: Json) -> tuple[FieldsCodec[Any], Check]:
    """The codec of an action, and its check; fields with defaults may have no space.

    What was described is checked as the server does: a `Box` may be left, and is clipped there.
    """
    if known := _restored(schema, "action"):
        codec = codec_of(restored(schema[SCHEMA_KEY]["space"]), "action")
        return known, TypeAdapter(action_model("action", codec)).validate_python
    parts = _derived(schema, Action)
    codecs = {name: part for name, part in parts.items() if part is not None}
    missing = [name for name in schema.get("required", ()) if name not in codecs]
    if missing or not codecs:
        raise ConfigurationError(
            f"{schema.get('title', 'the action')} has "
            f"{f'the field {missing[0]!r}, which says' if missing else 'no fields that say'} no "
            "bounds that a Gymnasium space could have; pass action=(space, function that gives "
            "an action)"
        )
    fields = FieldsCodec(codecs)
    return fields, partial(_refuse_outside, fields)


def _refuse_outside(codec: FieldsCodec[Any], fields: Json) -> None:
    if not codec.space.contains(codec.read(fields)):
        raise ValueError("it is out of bounds")


def _restored(schema: Json, what: str) -> FieldsCodec[Any] | None:
    """The codec of the space that a served Gymnasium environment has described."""
    described = schema.get(SCHEMA_KEY)
    if described is None:
        return None
    return fields_of(codec_of(restored(described["space"]), what), described["field"])


def _derived(schema: Json, base: type[BaseModel]) -> dict[str, Any]:
    """The codec of each field of the author's own, `None` where there is none."""
    return {
        name: derived(field, schema.get("$defs", {}))
        for name, field in schema.get("properties", {}).items()
        if name not in base.model_fields
    }
