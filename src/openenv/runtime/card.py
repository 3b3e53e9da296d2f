"""An environment's card, asked of an instance where that lives."""

from __future__ import annotations

from openenv.env.metadata import EnvironmentMetadata
from openenv.env.spec import AnyEnvironment
from openenv.protocol.errors import EnvironmentFailed, SessionError
from openenv.protocol.messages import Reply, error_reply
from openenv.runtime.faults import contained, failed


def card_of(environment: AnyEnvironment) -> EnvironmentMetadata:
    """What an environment tells about itself.

    Raises:
        EnvironmentFailed: it tells nothing, or raised.
    """
    try:
        card = contained(environment.get_metadata)
    except SessionError:
        raise
    except Exception as error:
        raise failed(error, "get_metadata", tracebacks=False) from error
    if not isinstance(card, EnvironmentMetadata):
        raise EnvironmentFailed(
            f"{type(environment).__name__}.get_metadata() must give an EnvironmentMetadata, got "
            f"{type(card).__name__}",
            operation="get_metadata",
        )
    return card


def card_reply(environment: AnyEnvironment) -> Reply:
    """The same as a reply."""
    try:
        return Reply("state", card_of(environment).model_dump_json().encode())
    except SessionError as error:
        return error_reply(error)
