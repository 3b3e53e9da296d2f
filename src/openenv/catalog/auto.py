"""AutoEnv and AutoAction: an environment's classes, and a client of it, by its name alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from openenv.catalog.images import image_here
from openenv.catalog.install import from_source
from openenv.catalog.installed import EnvironmentInfo, find, installed
from openenv.client.endpoint import Endpoint, normalised
from openenv.client.env_client import EnvClient
from openenv.client.fetching import is_available
from openenv.client.generic import GenericAction, GenericEnvClient
from openenv.client.launching import Launching
from openenv.client.spaces import Space
from openenv.protocol.errors import ConfigurationError, ConnectFailed

AnyClient = EnvClient[Any, Any, Any]
LOCAL_S, SPACE_S = 2.0, 5.0
"""How long a server may take to say that it is up: one that was named, and a Space."""


class AutoEnv:
    """Gives clients of environments by name. There are no instances."""

    def __init__(self) -> None:
        raise TypeError("AutoEnv has no instances: AutoEnv.from_env(name) gives a client")

    @classmethod
    def from_env(  # noqa: PLR0913, PLR0917  # as wide as existing code calls it
        cls,
        name: str,
        base_url: str | None = None,
        docker_image: str | None = None,
        container_provider: Any = None,
        wait_timeout: float = 30.0,
        env_vars: Mapping[str, str] | None = None,
        trust_remote_code: bool = False,
        skip_install: bool = False,
        **kwargs: Any,
    ) -> AnyClient | Launching[AnyClient]:
        """A client of an environment: of its server if there is one, else of one that is started.

        Args:
            name: an installed environment, as `echo`, or a Space: `owner/name`,
                `owner/name@revision`, or `git+https://…` for another repository.
            base_url: its server. If that is this machine's and down, a container is started.
            docker_image: the image to start; by default `NAME-env:latest`, or the one of
                `openenv build` if that alone is on this machine.
            container_provider: starts it, by default a `LocalDockerProvider`.
            wait_timeout: how long it may take until the container is healthy, in seconds.
            env_vars: variables of the container.
            trust_remote_code: consent to install a Space's package and run its code; otherwise
                `OPENENV_TRUST_REMOTE_CODE` gives it, or a terminal is asked.
            skip_install: installs nothing and runs no code of the Space's here: the client is a
                `GenericEnvClient`, which takes and gives plain dicts.
            **kwargs: of the client, and of the provider.

        Returns:
            A client that is not connected yet, or a `Launching` where a container has to be
            started. Either is used with `with`, `async with`, or `.sync()`.

        Raises:
            ConfigurationError: there is no such environment, or nobody agreed to install it.
            ConnectFailed: the server at `base_url` is down, and not this machine's.
            ImportError: its package cannot be imported.
        """
        local = not _is_remote(name)
        if skip_install and local and base_url is None and docker_image is None:
            raise ConfigurationError(
                f"without its package {name!r} is but a name: pass base_url or docker_image, or "
                "leave skip_install out"
            )
        client_class: type[AnyClient] = (
            GenericEnvClient
            if skip_install
            else _environment(name, trusted=trust_remote_code).get_client_class()
        )
        found = None
        if base_url is not None or docker_image is None:
            found = _running(name, base_url, may_start=not skip_install)
        if found is not None:
            return client_class(base_url=found, provider=None, **kwargs)
        return client_class.from_docker_image(
            docker_image or _image(name, container_provider),
            container_provider,
            ready_timeout_s=wait_timeout,
            env_vars=dict(env_vars or {}),
            **kwargs,
        )

    @classmethod
    def from_hub(cls, name: str, *args: Any, **kwargs: Any) -> AnyClient | Launching[AnyClient]:
        """The same as `from_env`."""
        return cls.from_env(name, *args, **kwargs)

    @classmethod
    def get_env_class(cls, name: str) -> type[AnyClient]:
        """An installed environment's client class; errors as `from_env`."""
        return find(name).get_client_class()

    @classmethod
    def get_env_info(cls, name: str) -> dict[str, Any]:
        """What is known of an installed environment, without importing it.

        Raises:
            ConfigurationError: there is no such environment.
        """
        found = find(name)
        return {
            "env_key": found.env_key,
            "name": found.name,
            "package": found.package_name,
            "version": found.version,
            "description": found.description,
            "env_class": found.client_class_name,
            "action_class": found.action_class_name,
            "observation_class": found.observation_class_name,
            "module": found.client_module_path,
            "default_image": found.default_image,
            "spec_version": found.spec_version,
        }

    @classmethod
    def list_environments(cls) -> None:
        """Prints the environments that are installed here."""
        _print(
            "OpenEnv environments",
            (f"{e.env_key}: {e.description} ({e.package_name} {e.version})" for e in _all()),
        )


class AutoAction:
    """Gives the action classes of environments by name. There are no instances."""

    def __init__(self) -> None:
        raise TypeError("AutoAction has no instances: AutoAction.from_env(name) gives a class")

    @classmethod
    def from_env(cls, name: str, skip_install: bool = False) -> type[Any]:
        """An environment's action class; errors as `AutoEnv.from_env`.

        Args:
            name: as of `AutoEnv.from_env`.
            skip_install: installs and imports nothing: the class is `GenericAction`.
        """
        return GenericAction if skip_install else _environment(name).get_action_class()

    @classmethod
    def from_hub(cls, env_name: str, skip_install: bool = False) -> type[Any]:
        """The same as `from_env`."""
        return cls.from_env(env_name, skip_install)

    @classmethod
    def get_action_info(cls, name: str) -> dict[str, Any]:
        """What is known of an installed environment's actions, without importing them."""
        found = find(name)
        return {
            "env_key": found.env_key,
            "env_name": found.name,
            "package": found.package_name,
            "action_class": found.action_class_name,
            "observation_class": found.observation_class_name,
            "module": found.client_module_path,
        }

    @classmethod
    def list_actions(cls) -> None:
        """Prints the action classes of the environments that are installed here."""
        _print(
            "OpenEnv actions", (f"{e.env_key}: {e.action_class_name} ({e.package})" for e in _all())
        )


def _all() -> Iterable[EnvironmentInfo]:
    return installed().values()


def _is_remote(name: str) -> bool:
    return "/" in name


def _environment(name: str, *, trusted: bool = False) -> EnvironmentInfo:
    return from_source(name, trusted=trusted) if _is_remote(name) else find(name)


def _image(name: str, provider: Any) -> str:
    """The image that a name stands for: of this machine's, if that is where it is started.

    Raises:
        ConfigurationError: a repository, or a revision, has none.
    """
    if not _is_remote(name):
        from openenv.providers import LocalDockerProvider

        found = find(name)
        here = provider is None or isinstance(provider, LocalDockerProvider)
        return (image_here(found) if here else None) or found.default_image
    space = None if name.startswith("git+") else Space.named(name)
    if space is None or space.revision is not None:
        raise ConfigurationError(
            f"{name} names no image: pass base_url or docker_image, or have uv run it, with the "
            "client class's from_env(…, use_docker=False)"
        )
    return space.image()


def _running(name: str, base_url: str | None, *, may_start: bool) -> str | None:
    """The address of a server that is up; `None` where one is to be started.

    Raises:
        ConnectFailed: the one that was named is down, and can't be replaced by one of ours.
    """
    if base_url is None:
        return _space(name)
    if is_available(base_url, LOCAL_S):
        return base_url
    endpoint = Endpoint(normalised(base_url))
    if may_start and endpoint.is_local:
        return None
    raise ConnectFailed(
        f"no healthy server at {endpoint.base_url}; is it running, and is this its address?",
        worth_retrying=True,
    )


def _space(name: str) -> str | None:
    """Where a Space serves, if it is up and no revision of its own was asked for."""
    if not _is_remote(name) or name.startswith("git+"):
        return None
    space = Space.named(name)
    return space.url if space.revision is None and is_available(space.url, SPACE_S) else None


def _print(title: str, lines: Iterable[str]) -> None:
    rows = list(lines)
    shown = [f"{title} ({len(rows)})", *(f"  {row}" for row in rows)]
    sys.stdout.write("\n".join(shown) + "\n")
