"""What a server tells of a failure: everything to a trainer, a number to look up to agents."""

from __future__ import annotations

from openenv.env.incidents import incident
from openenv.protocol.errors import EnvironmentFailed, SessionError
from openenv.protocol.wire import ServerMode


def disclosed(error: SessionError, mode: ServerMode) -> SessionError:
    """A typed error as it may be told.

    Of a failing environment an agent learns the kind and the number of the log's entry, for the
    text may hold paths, secrets, or the answer to its task.

    Args:
        error: what happened.
        mode: for whom the server is.
    """
    if mode is ServerMode.SIMULATION or not isinstance(error, EnvironmentFailed):
        return error
    if "incident" in error.details:
        return error
    number, text = incident(error.__cause__ or error, "the environment")
    return SessionError.from_data({"message": text, "code": error.code, "incident": number})
