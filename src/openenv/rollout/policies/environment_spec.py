"""EnvironmentSpec: what a policy may know of an environment before it plays."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from openenv.client.endpoint import Endpoint
from openenv.client.fetching import fetched
from openenv.client.generic import GenericEnvClient
from openenv.env.tool_models import RESERVED_TOOL_NAMES, Tool
from openenv.protocol.errors import ConfigurationError, ConnectFailed, Json
from openenv.rollout.made_up.calls import calls, offered, takes_calls
from openenv.rollout.made_up.samples import NoSample, samples

_CHOICES = 32


@dataclass(frozen=True, kw_only=True)
class EnvironmentSpec:
    """An environment, as its server describes it.

    Attributes:
        name: what it calls itself; `unknown` if it does not.
        version: its own; `None` if it does not say.
        action_schema: the JSON schema of its actions; empty if it does not say.
        tools: what its actions call, if they are calls of tools.
        base_url: where it is served.
    """

    name: str
    version: str | None = None
    action_schema: Json = field(default_factory=dict)
    tools: list[Tool] = field(default_factory=list)
    base_url: str = ""

    @property
    def identity(self) -> Json:
        """What a trajectory keeps of it."""
        return {"name": self.name, "version": self.version}

    @cached_property
    def sample_actions(self) -> list[Json]:
        """Actions that fit the schema, or calls of the tools; the same ones each time.

        Raises:
            ConfigurationError: none can be made up.
        """
        try:
            if takes_calls(self.action_schema):
                listed = [tool.model_dump() for tool in self.tools]
                return calls(listed, max(_CHOICES, len(listed)))
            return [_object(action) for action in samples(self.action_schema, _CHOICES)]
        except NoSample as error:
            raise ConfigurationError(
                f"no action can be made up for {self.name}: {error}; give a policy that knows it"
            ) from error


def environment_spec(base_url: str) -> EnvironmentSpec:
    """What the server at an address says of its environment.

    Raises:
        ConnectFailed: it does not answer.
    """
    client = GenericEnvClient(base_url=base_url)
    endpoint = client._endpoint
    schema = fetched(endpoint, "/schema").get("action")
    said = _metadata(endpoint)
    action_schema = schema if isinstance(schema, dict) else {}
    version = said.get("version")
    return EnvironmentSpec(
        name=str(said.get("name") or "unknown"),
        version=None if version is None else str(version),
        action_schema=action_schema,
        tools=_tools(client) if takes_calls(action_schema) else [],
        base_url=endpoint.base_url,
    )


def _metadata(endpoint: Endpoint) -> Json:
    """What the server says of itself; nothing, if it has no such page."""
    try:
        said: Any = fetched(endpoint, "/metadata")
    except ConnectFailed as error:
        if error.status is None:
            raise
        return {}
    return said if isinstance(said, dict) else {}


def _tools(client: GenericEnvClient) -> list[Tool]:
    """The tools that the server lists; none if it cannot."""
    try:
        listed = offered(client.sync)
    except NoSample:
        return []
    tools: list[Tool] = []
    for tool in listed:
        try:
            described = {name: tool.get(name) or "" for name in ("name", "description")}
            tools.append(Tool(**described, input_schema=tool.get("input_schema") or {}))
        except ValidationError:
            continue
    return [tool for tool in tools if tool.name not in RESERVED_TOOL_NAMES]


def _object(action: Any) -> Json:
    if not isinstance(action, dict):
        raise NoSample(f"its actions are no objects, but for example {action!r}")
    return action
