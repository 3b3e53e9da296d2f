"""Any served environment for a model: one tool that takes its actions, and what is seen of it."""

from __future__ import annotations

from typing import Any

from openenv.client.endpoint import Endpoint
from openenv.client.fetching import fetched
from openenv.env.tool_models import Tool
from openenv.protocol.errors import ProtocolError

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
    schema = fetched(endpoint, "/schema").get("action")
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        raise ProtocolError(
            f"{endpoint.base_url}/schema does not tell which fields an action has, so no model can "
            "take one; make sessions of your own, by StepEnvSessionAdapter"
        )
    fields = {name: field for name, field in schema["properties"].items() if name != "metadata"}
    described = schema.get("description") or "Takes one action in the environment."
    return Tool(name=ACT, description=described, input_schema={**schema, "properties": fields})


def seen(observation: Any) -> Any:
    """An observation as a model sees it: its `text`, where it has one, else its own fields."""
    if not isinstance(observation, dict):
        return observation
    text = observation.get("text")
    if isinstance(text, str) and text:
        return text
    return {name: value for name, value in observation.items() if name not in _BESIDE}
