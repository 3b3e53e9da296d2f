"""The tools of an environment, for its card: asked of a server, or of an instance made for it."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from openenv.client.tools import MCPToolClient
from openenv.env.spec import EnvSpec, class_made_by
from openenv.env.tool_models import Tool
from openenv.env.tools import tools_of
from openenv.in_process import local
from openenv.protocol.errors import Json, OpenEnvError
from openenv.protocol.wire import ServerMode


def tools_at(base_url: str, timeout_s: float) -> list[Json]:
    """The tools that a server offers to agents; none, if it has none or does not tell.

    Args:
        base_url: its address.
        timeout_s: how long it may take to connect, and to answer.
    """
    client: Any = MCPToolClient(
        base_url=base_url,
        connect_timeout_s=timeout_s,
        connect_retries=0,
        message_timeout_s=timeout_s,
        mode=ServerMode.PRODUCTION.value,
    )
    try:
        return _listed(client)
    except OpenEnvError:  # what is wrong with a server is told of what it must tell
        return []


def tools_in(spec: EnvSpec) -> tuple[list[Json], list[str]]:
    """The tools of an environment that is here, and what kept them from being listed.

    Args:
        spec: the environment; where it lists tools itself, an instance is made, and closed again.
    """
    if not spec.traits.has_tools:
        return [], []
    made = class_made_by(spec.make)
    if made is not None and not hasattr(made, "list_tools"):
        return [tool.description.model_dump() for tool in tools_of(made)], []
    try:
        types = (spec.action, spec.observation)
        return _listed(local(spec.make, *types, client_class=MCPToolClient)), []
    except OpenEnvError as error:
        return [], [f"its tools cannot be listed: {error}"]


def _listed(client: Any) -> list[Json]:
    with closing(client.sync()) as asked:
        listed: list[Tool] = asked.list_tools()
    return [tool.model_dump() for tool in listed]
