"""How to play an environment from Python, for people who look at its page."""

from __future__ import annotations

from typing import Any

from openenv import settings
from openenv.env.metadata import EnvironmentMetadata
from openenv.server.web.sample import sample_action

_SOMEWHERE = '"http://localhost:8000"  # or where this server listens'
"""Of a port that was chosen when the server began, no page that was built before can know."""


def get_quick_start_markdown(
    metadata: EnvironmentMetadata, action_cls: Any, observation_cls: Any
) -> str:
    """A page of Markdown with the program that takes one step.

    Args:
        metadata: the environment's card.
        action_cls: its actions' class.
        observation_cls: its observations' class.
    """
    space = settings.space_url()
    address = _SOMEWHERE if space is None else f'"{space}"'
    made = sample_action(action_cls)
    action = "...  # one that its schema lets pass" if made is None else repr(made)
    seen = ", ".join(getattr(observation_cls, "model_fields", {})) or "see its README"
    return (
        f"### Connect to {metadata.name}\n\n"
        "```python\n"
        "from openenv import GenericEnvClient\n\n"
        f"address = {address}\n"
        f"action = {action}\n"
        "with GenericEnvClient(base_url=address) as env:\n"
        "    print(env.reset().observation)\n"
        "    result = env.step(action)\n"
        "    print(result.observation, result.reward, result.done)\n"
        "```\n\n"
        f"Its observations have: {seen}.\n"
    )
