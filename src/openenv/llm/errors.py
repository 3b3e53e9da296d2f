"""What can go wrong with a language model.

ModelFailed               no usable answer
├── ModelRejected         the request is wrong, or its key: it fails again as it is
└── ModelUnavailable      busy, broken or out of reach, for longer than we were to try again
    └── ModelTimeout      no answer in time (also TimeoutError)
"""

from __future__ import annotations

from openenv.protocol.errors import OpenEnvError


class ModelFailed(OpenEnvError):
    """A language model gave no usable answer.

    Attributes:
        status: the HTTP status of the last answer, `None` when there was none.
        attempts: how many times it was asked.
    """

    def __init__(self, message: str, *, status: int | None = None, attempts: int = 1) -> None:
        self.status = status
        self.attempts = attempts
        super().__init__(message)


class ModelRejected(ModelFailed):
    """The server of a model refused a request: it is malformed, too long, or not allowed."""


class ModelUnavailable(ModelFailed):
    """A model was busy (429), broken (5xx) or out of reach until no attempt was left."""


class ModelTimeout(ModelUnavailable, TimeoutError):
    """A model did not answer in time."""
