"""`/health`, `/metadata` and `/schema`: what a server tells of itself."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from openenv.env.docstrings import Docstring
from openenv.env.environment import overrides
from openenv.env.metadata import EnvironmentMetadata, default_metadata
from openenv.env.spec import EnvSpec, class_made_by
from openenv.protocol.errors import SessionError
from openenv.protocol.wire import SchemaResponse
from openenv.runtime.card import card_of
from openenv.runtime.faults import contained, failed
from openenv.runtime.hosts import Hosts
from openenv.runtime.session import closing
from openenv.runtime.worker import BlockingCalls
from openenv.server.readme import with_readme


class _Lenient(GenerateJsonSchema):
    """Describes what has no JSON schema (arrays, tensors) as anything, instead of failing."""

    def handle_invalid_for_json_schema(
        self, schema: core_schema.CoreSchema, error_info: str
    ) -> JsonSchemaValue:
        return {}

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Tells of each field what the class's docstring says of it, where the field does not."""
        told = super().model_schema(schema)
        if schema["cls"].__doc__ is None:
            return told
        said = Docstring.of(schema["cls"])
        for name, field in told.get("properties", {}).items():
            if name in said.attributes:
                field.setdefault("description", said.attributes[name])
        if told.get("description") == inspect.getdoc(schema["cls"]):
            told["description"] = said.text
        return told


def json_schema(model: Any) -> dict[str, Any]:
    """The JSON schema of a model or a union of models."""
    try:
        return TypeAdapter(model).json_schema(schema_generator=_Lenient)
    except PydanticInvalidForJsonSchema:
        return {"type": "object"}


def schemas(spec: EnvSpec, reset_observation: Any = None) -> SchemaResponse:
    """The schemas of an environment.

    Args:
        spec: the environment.
        reset_observation: the class of what a reset gives; by default what the environment says.
    """
    first = reset_observation or spec.reset_observation or spec.observation
    return SchemaResponse(
        action=json_schema(spec.action),
        observation=json_schema(spec.observation),
        state=json_schema(spec.state),
        reset_observation=json_schema(first),
    )


class Card:
    """An environment's card, asked of it once: an instance costs what a session does.

    Args:
        spec: the environment.
        hosts: where it lives.
        name: its name for people; that of its class by default.
    """

    def __init__(self, spec: EnvSpec, hosts: Hosts, name: str | None) -> None:
        self.name = name or spec.name
        self._env_name = name
        self._spec = spec
        self._hosts = hosts
        self._told: EnvironmentMetadata | None = None
        self._asking = asyncio.Lock()

    async def read(self) -> EnvironmentMetadata:
        """What the environment says.

        Raises:
            SessionError: it could not be built, or failed to say it.
        """
        async with self._asking:
            self._told = self._told or await self._whole()
        return self._told

    async def _whole(self) -> EnvironmentMetadata:
        told = await _read(self._spec, self._hosts, self.name)
        return await asyncio.to_thread(with_readme, told, self._spec.made, self._env_name)


async def _read(spec: EnvSpec, hosts: Hosts, name: str) -> EnvironmentMetadata:
    """A card. An instance is built for it only if its class has something to say."""
    made = class_made_by(spec.make)
    if not spec.shared and made is not None and not overrides(made, "get_metadata"):
        return await asyncio.to_thread(default_metadata, made, name)
    if (card := await hosts.card()) is not None:
        return card
    try:
        return await asyncio.to_thread(_ask, spec)
    except SessionError:
        raise
    except Exception as error:
        raise failed(error, "get_metadata", tracebacks=False) from error


def _ask(spec: EnvSpec) -> EnvironmentMetadata:
    environment: Any = contained(spec.make)
    try:
        return card_of(environment)
    finally:
        if not spec.shared:
            calls = BlockingCalls()
            calls.settle(closing(environment))
            calls.close()
