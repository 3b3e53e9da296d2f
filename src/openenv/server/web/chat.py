"""Whether an environment is one to talk with."""

from __future__ import annotations

from openenv.env.spec import EnvSpec
from openenv.server.info import json_schema


def is_chat(spec: EnvSpec) -> bool:
    """Whether an action is a message, and an observation tells the messages so far.

    Or the environment makes an action of any message itself, by `message_to_action`.
    """
    said = json_schema(spec.action).get("required")
    told = json_schema(spec.reset_observation or spec.observation).get("properties", {})
    listed = said == ["message"] and told.get("messages", {}).get("type") == "array"
    return listed or hasattr(spec.made, "message_to_action")
