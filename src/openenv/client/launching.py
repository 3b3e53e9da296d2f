"""Clients whose servers are started for them: `from_docker_image` and `from_env`."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from openenv.client.modes import Colour
from openenv.client.own_server import OwnServer, Started, patience
from openenv.client.pending import LOOKED_FOR, Deferred
from openenv.client.spaces import Space
from openenv.protocol.errors import ConfigurationError, ModeError

if TYPE_CHECKING:
    from openenv.client.env_client import EnvClient
    from openenv.client.sync_client import SyncEnvClient
    from openenv.providers import Launch, Provider

ClientT = TypeVar("ClientT", bound="EnvClient[Any, Any, Any]")


class Launching(Deferred[ClientT], Generic[ClientT]):
    """A client whose server has not been started yet. What is done with it decides how it is used.

        env = await EchoEnv.from_docker_image("echo")            # a client that awaits
        async with EchoEnv.from_docker_image("echo") as env: ...
        env = EchoEnv.from_docker_image("echo").sync()           # a client that blocks
        with EchoEnv.from_docker_image("echo") as env: ...
        env = EchoEnv.from_docker_image("echo")                  # blocks, inside a loop too
        env.reset()

    Each starts the server, and all but the first connect. Used directly it is a client that blocks
    from its first call on, in any thread. Closing the client stops the server. Never used, it
    starts nothing.

    Args:
        client_class: the client's class.
        server: what is started.
        options: of the client.
    """

    def __init__(
        self, client_class: type[ClientT], server: OwnServer, options: Mapping[str, Any]
    ) -> None:
        super().__init__(self._awaited)
        self._client_class = client_class
        self._server = server
        self._options = options
        self._client: ClientT | None = None
        self._is_taken = False
        self._turn = threading.RLock()

    def sync(self) -> SyncEnvClient[Any, Any, Any]:
        """The client, started and connected, which blocks; precisely typed.

        Raises:
            ModeError: the client was given before, in this or another way.
            ProviderError: the server could not be started; nothing is left of it.
            ConnectFailed: it took no connection; likewise.
        """
        return self._given().sync()

    def __enter__(self) -> ClientT:
        """The client, which blocks, and which this is within the block, too; errors as `sync`."""
        client = self._given()
        self._is_taken = False
        return client

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the client."""
        if self._client is not None:
            self._client.close()

    async def __aenter__(self) -> ClientT:
        """The client, which awaits, and which this is within the block, too; errors as `sync`."""
        client = await self
        try:
            entered = await client.__aenter__()
        except BaseException as error:
            await self._server.afailed(error)
            raise
        self._is_taken = False
        return entered

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the client."""
        if self._client is not None:
            await self._client.close()

    def close(self) -> None:
        """Closes the client that this was used as, and stops its server; nothing if it was not."""
        with self._turn:  # one that is starting elsewhere is closed when it has
            if self._is_taken and self._coroutine is not None:
                super().close()
            elif self._client is not None:
                self._client.close()

    def __getattr__(self, name: str) -> Any:
        """What the client has. A method starts the server when it is called, all else at once."""
        if name.startswith(LOOKED_FOR):
            return super().__getattr__(name)
        found = getattr(self._client_class, name, None)
        if self._client is not None or (found is not None and not callable(found)):
            return getattr(self._itself(), name)
        if found is None:
            raise AttributeError(
                f"{self._client_class.__name__} has no {name!r} before its server is started: "
                "connect() starts it"
            )

        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            return getattr(self._itself(), name)(*args, **kwargs)

        return call

    def __repr__(self) -> str:
        name = self._client_class.__name__
        return f"<a {name} whose server is started when it is used, or awaited>"

    def _itself(self) -> ClientT:
        """The client that this is when it is used directly."""
        with self._turn:
            if self._client is None or self._is_taken:
                self._refuse_twice()
                self._client = self._blocking()
            return self._client

    def _given(self) -> ClientT:
        """The client that blocks, for whoever asked first."""
        with self._turn:
            self._refuse_twice()
            self._client = client = self._blocking()
            self._is_taken = True
            return client

    def _refuse_twice(self) -> None:
        name = self._client_class.__name__
        if self._is_taken:
            raise ModeError(
                f"this has given its {name} already: use that one, or call from_docker_image() or "
                "from_env() again for another"
            )
        if self._client is not None:
            raise ModeError(f"this is a {name} that blocks since its first call: use it as one")

    def _blocking(self) -> ClientT:
        url = self._server.start().url
        try:
            client = self._made(url)
            client._claim(Colour.BLOCKING)
            client.connect()
        except BaseException as error:
            self._server.failed(error)
            raise
        return client

    async def _awaited(self) -> ClientT:
        """Not connected yet: where `asyncio.run` gives it, that loop is over when it is used."""
        self._refuse_twice()
        self._is_taken = True
        started = await self._server.astart()
        try:
            self._client = client = self._made(started.url)
        except BaseException as error:
            await self._server.afailed(error)
            raise
        return client

    def _made(self, url: str) -> ClientT:
        client = self._client_class(base_url=url, **self._options)
        client._server = self._server
        return client


class Launched:
    """Gives a client's class its `from_docker_image` and `from_env`."""

    @classmethod
    def from_docker_image(  # type: ignore[misc]  # EnvClient alone inherits it
        cls: type[ClientT], image: str, provider: Any = None, **options: Any
    ) -> Launching[ClientT]:
        """A client of a container that is started for it; see `Launching` for how it is used.

        Args:
            image: the container's image.
            provider: starts it, by default a `LocalDockerProvider`. A provider written to the
                older interfaces will do.
            **options: `port`, `env_vars`, `ready_timeout_s` (seconds, 60), `memory`, `cpus` and
                `pids` say what is started, see `openenv.providers.Launch`; the client's arguments
                are the client's; all else is the provider's own.
        """
        return _launching(cls, _chosen(provider, "LocalDockerProvider"), {"image": image}, options)

    @classmethod
    def from_project(  # type: ignore[misc]  # likewise
        cls: type[ClientT], project: str | Path, provider: Any = None, **options: Any
    ) -> Launching[ClientT]:
        """A client of a project on this machine whose server is started for it.

        Args:
            project: what `openenv serve` takes: a file, `file.py:Class`, `module:Class`, or a
                directory that holds an openenv.yaml.
            provider: starts it, by default a `ProcessProvider`: this Python, in another process.
            **options: as of `from_docker_image`.
        """
        return _launching(cls, _chosen(provider, "ProcessProvider"), {"project": project}, options)

    @classmethod
    def from_env(  # type: ignore[misc]  # likewise
        cls: type[ClientT],
        repo_id: str,
        *,
        use_docker: bool = True,
        provider: Any = None,
        **options: Any,
    ) -> Launching[ClientT]:
        """A client of a Space of the Hugging Face Hub that is started here for it.

        Args:
            repo_id: `owner/name`; without Docker also `owner/name@revision`.
            use_docker: starts the Space's image, of the `tag` (an option, by default `latest`).
                Otherwise its repository is run by uv, or the `project_path` in the options.
            provider: starts it, by default a `LocalDockerProvider` or a `UVProvider`.
            **options: as of `from_docker_image`. Without Docker `workers` too, and where no
                provider is given the arguments of `UVProvider`.

        Raises:
            ConfigurationError: there can be no such Space, or a provider is given and an option
                that it would have been made with.
        """
        space = Space.named(repo_id)
        if not use_docker:
            return _launching(cls, _uv(space, provider, options), {}, options)
        if space.revision:
            raise ConfigurationError(
                f"an image has a tag, not the revision {space.revision!r}: pass tag=, or "
                "use_docker=False"
            )
        image = space.image(options.pop("tag", "latest"))
        return _launching(cls, _chosen(provider, "LocalDockerProvider"), {"image": image}, options)


def _launching(
    client_class: type[ClientT],
    provider: Callable[[], Provider],
    what: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Launching[ClientT]:
    """Gives everybody their own of the options: the client, the launch, the provider."""
    from openenv.client.env_client import EnvClient

    theirs = dict(options)
    known = {n for c in (EnvClient, client_class) for n in inspect.signature(c).parameters}
    own = _taken(theirs, known - {"base_url", "provider"})

    def start() -> Started:
        found = provider()
        return found.launch(_launch({**what, **patience(found)}, theirs))

    return Launching(client_class, OwnServer(start), own)


def _launch(what: Mapping[str, Any], options: Mapping[str, Any]) -> Launch:
    from openenv.providers import Launch, Resources

    theirs = dict(options)
    said = {**what, **_taken(theirs, ("port", "env_vars", "ready_timeout_s", "resources"))}
    limits = _taken(theirs, [limit.name for limit in fields(Resources)])
    if limits:
        said["resources"] = replace(said.get("resources", Resources()), **limits)
    return Launch(**said, options=theirs)


def _chosen(provider: Any, default: str, **made_with: Any) -> Callable[[], Provider]:
    """The caller's provider; or one of ours, made when it is needed: it looks for its tools."""
    from openenv import providers

    if provider is None:
        made: Callable[..., Provider] = getattr(providers, default)
        return partial(made, **made_with)
    found = providers.as_provider(provider)
    return lambda: found


def _uv(space: Space, provider: Any, options: dict[str, Any]) -> Callable[[], Provider]:
    """What runs a Space's repository; takes its own of the options.

    Raises:
        ConfigurationError: it is there already, and there are options that would have made it.
    """
    own = _taken(options, ("project_path", "app", "host", "reload", "context_timeout_s"))
    if provider is not None and own:
        raise ConfigurationError(
            f"{', '.join(own)} would make a provider, and there is one already: make that with "
            "them, or leave provider out"
        )
    return _chosen(provider, "UVProvider", **{"project_path": space.source, **own})


def _taken(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Takes out the options of these names."""
    return {name: options.pop(name) for name in names if name in options}
