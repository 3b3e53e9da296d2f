"""What can go wrong with a language model.

ModelFailed               no usable answer
├── ModelRejected         the request is wrong, or its key: it fails again as it is
└── ModelUnavailable      busy, broken or out of reach, for longer than we were to try again
    └── ModelTimeout      no answer in time (also TimeoutError)
"""

from __future__ import annotations

from typing_extensions import Self

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
    """A model was busy (429), broken (5xx) or out of reach until no attempt was left.

    Attributes:
        retry_after_s: seconds after which the server wants to be asked again, `None` if it does
            not say.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        attempts: int = 1,
        retry_after_s: float | None = None,
    ) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message, status=status, attempts=attempts)

    def after(self, attempts: int, spent_s: float) -> Self:
        """The same error, which tells how long it was tried."""
        wish = self.retry_after_s
        asked = "" if wish is None else f", and it asks to wait another {wish:g} s"
        return type(self)(
            f"{self}; tried {attempts} time(s) in {spent_s:.1f} s{asked}",
            status=self.status,
            attempts=attempts,
            retry_after_s=wish,
        )


class ModelTimeout(ModelUnavailable, TimeoutError):
    """A model did not answer in time."""
