"""The names under which an agent sees the environment's tools."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from openenv.env.tool_models import RESERVED_TOOL_NAMES, Tool
from openenv.protocol.errors import ConfigurationError


def resolve_tool_conflicts(
    env_tools: Sequence[Tool], harness_builtin_tools: Collection[str], prefix: str = "env_"
) -> list[Tool]:
    """The environment's tools, with a prefix where the agent has a tool of that name itself.

    Args:
        env_tools: those of the environment; they are left as they are.
        harness_builtin_tools: the names of the agent's own.
        prefix: what is put before a name that the agent uses itself.

    Returns:
        one tool for each, in the same order, no two of one name.

    Raises:
        ConfigurationError: a name controls the episode, is there twice, or is taken also with
            the prefix.
    """
    names = [each.name for each in env_tools]
    if reserved := RESERVED_TOOL_NAMES.intersection(names):
        raise ConfigurationError(f"no tool may be called {min(reserved)!r}: rename it")
    resolved = [
        tool.model_copy(update={"name": prefix + tool.name})
        if tool.name in harness_builtin_tools
        else tool
        for tool in env_tools
    ]
    taken = set(harness_builtin_tools)
    for original, tool in zip(names, resolved, strict=True):
        if tool.name in taken:
            raise ConfigurationError(
                f"the tool {original!r} can't be offered as {tool.name!r}: another tool has that "
                "name; rename it, or choose another prefix"
            )
        taken.add(tool.name)
    return resolved
