"""What answers an action with tools, whichever client took it: read by its own fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, ValidationError

from openenv.env.models import Observation, unpack, validate
from openenv.protocol.errors import Json, ProtocolError

if TYPE_CHECKING:
    from openenv.env.tool_models import CallToolObservation, ListToolsObservation, Tool

_CALLED = frozenset({"tool_name", "result", "error"})
_TELLING = frozenset({"tool_name", "tools"})


class GenericMCPObservation(Observation):
    """An observation of an environment whose client declares no type for it."""

    model_config = ConfigDict(extra="allow")


def reset_class(
    own: type[Observation], nested: Json, declared: type[Observation] | None
) -> type[Observation]:
    """The class of an observation, which is another after a reset if `own` is that of a call.

    Args:
        own: the client's own class of observations.
        nested: the observation's fields.
        declared: what a reset gives, if that is known.
    """
    if "tool_name" in nested or not own.model_fields.keys() >= _CALLED:
        return own
    if declared not in (None, Observation):
        return declared
    return (
        Observation if nested.keys() <= Observation.model_fields.keys() else GenericMCPObservation
    )


def tool_observation(
    payload: Json, own: type[Any] | None = None
) -> CallToolObservation | ListToolsObservation | None:
    """The observation in the `data` of a reply, if it is one of tools.

    Args:
        payload: the data.
        own: the client's own class of observations; what has its fields is one of those.

    Raises:
        ProtocolError: it is one of tools, and its fields do not fit.
    """
    nested = payload.get("observation")
    if not isinstance(nested, dict) or nested.keys().isdisjoint(_TELLING):
        return None
    names = nested.keys() - {"metadata"}
    if names <= getattr(own, "model_fields", {}).keys():
        return None
    if names == {"tools"}:
        return _listed(payload)
    return _called(payload) if names <= _CALLED else None


def tools_in(listed: Any) -> list[Tool]:
    """The tools of a list, of a server of any version.

    One without a description has an empty one; a schema may be called as MCP does.

    Raises:
        ProtocolError: it is no list of tools.
    """
    from openenv.env.tool_models import Tool

    if not isinstance(listed, list):
        raise ProtocolError(f"the server's tools are no list but a {type(listed).__name__}")
    try:
        return [
            Tool(
                name=each["name"],
                description=each.get("description") or "",
                input_schema=each.get("input_schema") or each.get("inputSchema") or {},
            )
            for each in listed
        ]
    except (KeyError, TypeError, AttributeError, ValidationError) as error:
        raise ProtocolError(f"the server sent a tool that is none: {error!r}") from error


def _listed(payload: Json) -> ListToolsObservation:
    from openenv.env.tool_models import ListToolsObservation

    fields = unpack(ListToolsObservation, payload)
    return ListToolsObservation(**{**fields, "tools": tools_in(fields["tools"])})


def _called(payload: Json) -> CallToolObservation:
    from openenv.env.tool_models import CallToolObservation

    try:
        return validate(CallToolObservation, unpack(CallToolObservation, payload))
    except ValidationError as error:
        raise ProtocolError(f"the server's answer to a call is none: {error}") from error
