"""The two interfaces that providers were written to before `Provider`, and their adapters.

`ContainerProvider` and `RuntimeProvider` hold one server at a time. `as_provider` makes a
`Provider` of an object of either kind, whoever wrote it; `ContainerStarter` is a provider of ours
seen the other way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import TracebackType
from typing import Any

from typing_extensions import Self

from openenv.protocol.errors import ConfigurationError
from openenv.providers.health import wait_until_healthy
from openenv.providers.launch import Launch, Resources, refuse_fields
from openenv.providers.provider import (
    Provider,
    Running,
    typed_errors,
    unless_failed,
    when_healthy,
)


class ContainerProvider(ABC):
    """Runs one container at a time. `with` stops it."""

    @abstractmethod
    def start_container(
        self,
        image: str,
        port: int | None = None,
        env_vars: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> str:
        """Starts a container; its address, which need not answer yet."""

    @abstractmethod
    def stop_container(self) -> None:
        """Stops and removes the container; nothing if none runs."""

    @abstractmethod
    def wait_for_ready(self, base_url: str, timeout_s: float = 30.0) -> None:
        """Waits until the server in the container is healthy; `TimeoutError` if it is not."""

    def close(self) -> None:
        """Stops the container."""
        self.stop_container()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class RuntimeProvider(ABC):
    """Runs one server at a time on this machine. `with` starts and stops it."""

    @abstractmethod
    def start(
        self, port: int | None = None, env_vars: Mapping[str, str] | None = None, **kwargs: Any
    ) -> str:
        """Starts the server; its address, which need not answer yet."""

    @abstractmethod
    def stop(self) -> None:
        """Stops the server; nothing if none runs."""

    @abstractmethod
    def wait_for_ready(self, timeout_s: float = 30.0) -> None:
        """Waits until the server is healthy; `TimeoutError` if it is not."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class ContainerStarter(Provider, ContainerProvider):
    """A provider of containers that offers the older interface too, for one container at a time."""

    _current: Running | None = None

    @abstractmethod
    def begin(self, launch: Launch) -> Running:
        """Starts a container, and does not wait until it is healthy.

        Raises:
            ProviderError: it could not be started. Nothing is left of it.
        """

    def launch(self, launch: Launch) -> Running:
        """Starts a container and waits until it is healthy; see `Provider`."""
        return when_healthy(self.begin(launch), launch.ready_timeout_s)

    def start_container(
        self,
        image: str,
        port: int | None = None,
        env_vars: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> str:
        """Starts a container, in the place of the one that this object may hold.

        Args:
            image: its image.
            port: on this machine; a free one by default.
            env_vars: its variables.
            kwargs: `memory`, `cpus` and `pids` limit it, see `Resources`; the rest are the
                provider's own options.

        Returns:
            Its address, which need not answer yet: `wait_for_ready`.

        Raises:
            ProviderError: it could not be started. Nothing is left of it.
        """
        self.stop_container()
        limits = {f.name: kwargs.pop(f.name) for f in fields(Resources) if f.name in kwargs}
        launch = Launch(
            image=image,
            port=port,
            env_vars=env_vars or {},
            resources=Resources(**limits),
            options=kwargs,
        )
        self._current = self.begin(launch)
        return self._current.url

    def stop_container(self) -> None:
        """Stops and removes the container of `start_container`; nothing if none runs."""
        if self._current is not None:
            self._current.stop()
            self._current = None

    def wait_for_ready(self, base_url: str, timeout_s: float = 30.0) -> None:
        """Waits until a server is healthy.

        Raises:
            NotReady: it is not in time; a `TimeoutError`.
            ProviderError: its container died.
        """
        current = self._current
        if current is not None and current.url == base_url:
            current.wait_until_healthy(timeout_s)
        else:
            wait_until_healthy(base_url, timeout_s)


def as_provider(thing: Any) -> Provider:
    """A `Provider` of one, of a `ContainerProvider` or a `RuntimeProvider`, or of what acts so.

    Raises:
        ConfigurationError: it is none of them.
    """
    if isinstance(thing, Provider):
        return thing
    if callable(getattr(thing, "start_container", None)):
        return _ContainerAdapter(thing)
    if callable(getattr(thing, "start", None)) and callable(getattr(thing, "stop", None)):
        return _RuntimeAdapter(thing)
    raise ConfigurationError(
        f"a provider is a Provider, or has start_container() or start() and stop(), got {thing!r}"
    )


class _ContainerAdapter(Provider):
    """A container provider that somebody else wrote."""

    def __init__(self, provider: ContainerProvider) -> None:
        self._provider = provider

    def launch(self, launch: Launch) -> Running:
        refuse_fields(launch, ("project", "app"), type(self._provider).__name__)
        running = _Adapted(self._provider.stop_container)
        with unless_failed(running), typed_errors():
            running.url = self._provider.start_container(launch.image or "", **_arguments(launch))
            self._provider.wait_for_ready(running.url, timeout_s=launch.ready_timeout_s)
        return running


class _RuntimeAdapter(Provider):
    """A runtime provider that somebody else wrote."""

    def __init__(self, provider: RuntimeProvider) -> None:
        self._provider = provider

    def launch(self, launch: Launch) -> Running:
        refuse_fields(launch, ("image", "project", "app"), type(self._provider).__name__)
        running = _Adapted(self._provider.stop)
        with unless_failed(running), typed_errors():
            running.url = self._provider.start(**_arguments(launch))
            self._provider.wait_for_ready(timeout_s=launch.ready_timeout_s)
        return running


class _Adapted(Running):
    """What an adapted provider started."""

    def __init__(self, stop: Callable[[], None]) -> None:
        super().__init__()
        self._stop = stop

    def logs(self, lines: int = 50) -> str:
        return ""

    def problem(self) -> str | None:
        return None

    def _end(self) -> None:
        self._stop()


def _arguments(launch: Launch) -> dict[str, Any]:
    """What a launch gives to the older interfaces: only what was said."""
    said: dict[str, Any] = {"port": launch.port, "env_vars": dict(launch.env_vars) or None}
    limits = {limit.name: getattr(launch.resources, limit.name) for limit in fields(Resources)}
    return {
        **{name: value for name, value in said.items() if value is not None},
        **{name: value for name, value in limits.items() if value != getattr(Resources, name)},
        **launch.options,
    }
