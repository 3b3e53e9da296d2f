"""What can go wrong with an agent that runs inside an environment."""

from __future__ import annotations

from openenv.protocol.errors import OpenEnvError


class HarnessError(OpenEnvError, RuntimeError):
    """An agent inside an environment failed.

    Attributes:
        stderr: the end of what it wrote to its stderr, without the secrets that it was given.
        quoted: what it said itself was wrong. Like its stderr, that is not for everybody.
    """

    def __init__(self, message: str, stderr: str = "", quoted: str = "") -> None:
        super().__init__(message)
        self.stderr = stderr
        self.quoted = quoted

    def __str__(self) -> str:
        text = self.in_full
        return f"{text}\nThe end of its stderr:\n{self.stderr}" if self.stderr else text

    @property
    def message(self) -> str:
        """What happened, without what the agent wrote."""
        return str(self.args[0])

    @property
    def in_full(self) -> str:
        """What happened, and what the agent said of it."""
        return f"{self.message}: {self.quoted}" if self.quoted else self.message


class HarnessStartupError(HarnessError):
    """The agent could not be started, or was not ready in time."""


class HarnessNotRunningError(HarnessError):
    """The agent has ended, or was not started."""


class HarnessTurnTimeoutError(HarnessError, TimeoutError):
    """The agent did not finish its turn in time."""
