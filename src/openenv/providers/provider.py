"""Provider and Running: a place where servers can be started, and one that was."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType

from typing_extensions import Self

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers import cleanup
from openenv.providers.health import wait_until_healthy
from openenv.providers.launch import Launch

LOG_LINES = 50
MAX_TOLD = 10_000
"""How many characters of a log an error has: a line may be long."""


class Running(ABC):
    """A server that was started: its address, its log, and how to stop it. `with` stops it.

    It is remembered from its construction until it is stopped, and stopped when Python ends, see
    `openenv.providers.cleanup`. So construct it before anything is started that could be left over.

    Attributes:
        url: where it answers, `http://…`; empty while that is not known.
        headers: what requests to it need.
    """

    headers: Mapping[str, str] = {}

    def __init__(self, url: str = "") -> None:
        self.url = url
        self._stopped = False
        self._stopping = threading.RLock()
        cleanup.remember(self)

    @abstractmethod
    def logs(self, lines: int = LOG_LINES) -> str:
        """The last lines that it wrote; empty if they cannot be had."""

    @abstractmethod
    def problem(self) -> str | None:
        """Why it cannot be healthy any more; `None` while it lives."""

    @abstractmethod
    def _end(self) -> None:
        """Stops it, whatever state it is in, and removes all that belongs to it."""

    def stop(self) -> None:
        """Stops it and removes what belongs to it. Does nothing the second time.

        Raises:
            ProviderError: it could not be stopped; it can be tried again.
        """
        with self._stopping:
            if not self._stopped:
                with typed_errors():
                    self._end()
                self._stopped = True
                cleanup.forget(self)

    def wait_until_healthy(self, timeout_s: float) -> None:
        """Waits for its first healthy answer.

        Args:
            timeout_s: how long, in seconds.

        Raises:
            NotReady: there was none in time. The text has the end of the log.
            ProviderError: it died. The text has the end of the log.
        """
        with self._telling_its_log():
            self._wait(timeout_s)

    def _wait(self, timeout_s: float) -> None:
        """See `wait_until_healthy`; the log is told by that."""
        wait_until_healthy(self.url, timeout_s, is_alive=self.problem, headers=self.headers)

    @contextmanager
    def _telling_its_log(self) -> Iterator[None]:
        """A block whose errors have the end of its log."""
        try:
            yield
        except ProviderError as error:
            tail = ""
            with suppress(ProviderError):
                tail = self.logs().strip()[-MAX_TOLD:]
            told = f"The end of its log:\n{tail}" if tail else "It wrote no log."
            raise type(error)(f"{error}\n{told}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class Provider(ABC):
    """A place where servers can be started."""

    @abstractmethod
    def launch(self, launch: Launch) -> Running:
        """Starts a server. Blocks until it is healthy.

        Raises:
            NotAvailable: this machine lacks what the provider needs.
            NotReady: it was not healthy in time. Nothing is left of it.
            ProviderError: it could not be started, or died. Nothing is left of it.
        """


def when_healthy(running: Running, timeout_s: float) -> Running:
    """The same server, once it is healthy; else it is stopped, also when the wait is interrupted.

    Raises:
        NotReady: it was not healthy in time.
        ProviderError: it died.
    """
    with unless_failed(running):
        running.wait_until_healthy(timeout_s)
    return running


@contextmanager
def unless_failed(running: Running) -> Iterator[None]:
    """A block after which a server is left running only if nothing was raised."""
    try:
        yield
    except BaseException:
        with suppress(ProviderError):  # the first error is the one to tell
            running.stop()
        raise


@contextmanager
def typed_errors() -> Iterator[None]:
    """A block in which whatever somebody else's provider raises becomes a `ProviderError`."""
    try:
        yield
    except ProviderError:
        raise
    except Exception as error:
        kind = NotReady if isinstance(error, TimeoutError) else ProviderError
        raise kind(str(error) or type(error).__name__) from error
