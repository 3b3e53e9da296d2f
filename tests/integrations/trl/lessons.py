"""What the small model is taught of each environment: how a call of its tool is written."""

import json
import random
from typing import Any

from openenv.env.tool_models import Tool
from openenv.integrations.trl.functions import method_of
from tests.integrations.trl.tiny import Lesson


def _act(description: str, **fields: dict[str, Any]) -> Any:
    """The method that `environment_factory` makes of such an action."""
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return method_of(Tool(name="act", description=description, input_schema=schema))


def _message(rng: random.Random) -> dict[str, Any]:
    return {"message": "".join(rng.choices("abcdefgh", k=rng.randint(1, 10)))}


def _echoed(arguments: dict[str, Any]) -> str:
    said = arguments["message"]
    return json.dumps({"echoed_message": said, "message_length": len(said)}, separators=(",", ":"))


ECHO = Lesson(
    "Say something.",
    [_act("Says something.", message={"type": "string", "description": "the text to be echoed."})],
    "act",
    _message,
    _echoed,
)
