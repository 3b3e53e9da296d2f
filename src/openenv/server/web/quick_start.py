"""How to play an environment from Python, for people who look at its page."""

from __future__ import annotations

from typing import Any

from openenv import settings
from openenv.env.metadata import EnvironmentMetadata
from openenv.server.web.action_fields import action_fields

_LOCAL = "http://localhost:8000"
_EXAMPLES: dict[str, Any] = {"number": 1, "checkbox": True, "tensor": [1, 2, 3]}


def get_quick_start_markdown(
    metadata: EnvironmentMetadata, action_cls: Any, observation_cls: Any
) -> str:
    """A page of Markdown with the program that takes one step.

    Args:
        metadata: the environment's card.
        action_cls: its actions' class.
        observation_cls: its observations' class.
    """
    address = settings.space_url() or _LOCAL
    action = ", ".join(f'"{name}": {value!r}' for name, value in _example(action_cls).items())
    seen = ", ".join(getattr(observation_cls, "model_fields", {})) or "see its README"
    return (
        f"### Connect to {metadata.name}\n\n"
        "```python\n"
        "from openenv import GenericEnvClient\n\n"
        f'with GenericEnvClient(base_url="{address}") as env:\n'
        "    print(env.reset().observation)\n"
        f"    result = env.step({{{action}}})\n"
        "    print(result.observation, result.reward, result.done)\n"
        "```\n\n"
        f"Its observations have: {seen}.\n"
    )


def _example(action_cls: Any) -> dict[str, Any]:
    """Values for what an action needs; all that it has, where it needs nothing."""
    fields = action_fields(action_cls)
    chosen = [field for field in fields if field["required"]] or fields[:1]
    return {field["name"]: _value(field) for field in chosen}


def _value(field: dict[str, Any]) -> Any:
    if field["default_value"] is not None:
        return field["default_value"]
    if field["choices"]:
        return field["choices"][0]
    least = field["min_value"]
    return _EXAMPLES.get(field["type"], "hello") if least is None else least
