"""Any served environment for a model: one tool that takes its actions, and what is seen of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_core import to_json

from openenv.client.endpoint import Endpoint
from openenv.client.fetching import fetched
from openenv.env.tool_models import Tool
from openenv.protocol.errors import Json, ProtocolError

ACT = "act"
"""The tool that takes an action; `step` is the trainer's."""
_BESIDE = frozenset({"metadata", "reward", "done", "truncated"})
"""Of an observation, what is the trainer's to see."""


def action_tool(endpoint: Endpoint) -> Tool:
    """A tool that takes a server's actions, by the schema that it publishes.

    Raises:
        ConnectFailed: it says nothing.
        ProtocolError: it does not tell what an action is.
    """
    return tool_of(fetched(endpoint, "/schema").get("action"), endpoint.base_url)


def tool_of(schema: Any, base_url: str) -> Tool:
    """A tool that takes actions of a schema.

    Raises:
        ProtocolError: it does not tell what an action is.
    """
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        raise ProtocolError(
            f"{base_url}/schema does not tell which fields an action has, so no model can "
            "take one; make sessions of your own, by StepEnvSessionAdapter"
        )
    fields = {name: field for name, field in schema["properties"].items() if name != "metadata"}
    described = schema.get("description") or "Takes one action in the environment."
    return Tool(name=ACT, description=described, input_schema={**schema, "properties": fields})


def described(tools: Sequence[Tool]) -> list[Json]:
    """Tools as a client of a model takes them."""
    return [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in tools
    ]


def seen(observation: Any) -> Any:
    """An observation as a model sees it: its `text`, where it has one, else its own fields."""
    if not isinstance(observation, dict):
        return observation
    text = observation.get("text")
    if isinstance(text, str) and text:
        return text
    return {name: value for name, value in observation.items() if name not in _BESIDE}


def as_text(value: Any) -> str:
    """A text as it is, any other value as JSON."""
    return value if isinstance(value, str) else to_text(value)


def to_text(value: Any) -> str:
    """The JSON of a value; what JSON cannot say is written as `str` does."""
    written = to_json(value, inf_nan_mode="strings", bytes_mode="base64", fallback=str)
    return written.decode()
