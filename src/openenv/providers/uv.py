"""UVProvider: a project's server on this machine, in an environment that uv makes for it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openenv.protocol.errors import NotAvailable, ProviderError
from openenv.providers.command import run
from openenv.providers.launch import Launch, refuse_fields, refuse_unknown
from openenv.providers.peer import RuntimeProvider
from openenv.providers.process import refuse_limits
from openenv.providers.provider import Provider, Running, unless_failed, when_healthy
from openenv.providers.server_process import ServerProcess, bracketed, reachable

APP = "server.app:app"
CLONE_S = 600.0


class UVProvider(Provider, RuntimeProvider):
    """Runs a project's ASGI application with `uv run`, apart from this Python's packages.

    It isolates nothing else. The server listens on 127.0.0.1 unless another host is given. It gets
    none of our variables that look like credentials. It ends when this process does, also by
    `kill -9`.

    Args:
        project_path: the project's directory, or `git+https://…[@REVISION]`, which is cloned for as
            long as the server runs.
        app: the application, as `module:name`.
        host: the address to listen on. Environments run code for whoever reaches them, so it is
            this machine alone by default.
        reload: start anew when the project's files change.
        env_vars: variables of the server.
        context_timeout_s: how long a start may take, packages and all, in seconds.

    Raises:
        NotAvailable: there is no uv.
    """

    def __init__(
        self,
        *,
        project_path: str | Path,
        app: str = APP,
        host: str = "127.0.0.1",
        reload: bool = False,
        env_vars: Mapping[str, str] | None = None,
        context_timeout_s: float = 60.0,
    ) -> None:
        self.project_path = str(project_path)
        self.app = app
        self.host = host
        self.reload = reload
        self.env_vars = dict(env_vars or {})
        self.context_timeout_s = context_timeout_s
        self._uv = find_uv()
        self._current: ServerProcess | None = None

    @property
    def base_url(self) -> str:
        """The address of the running server.

        Raises:
            ProviderError: none runs.
        """
        return self._running().url

    def start(
        self, port: int | None = None, env_vars: Mapping[str, str] | None = None, **kwargs: Any
    ) -> str:
        """Starts the server.

        Args:
            port: on this machine. Without one a free one is taken, and waited for, since it is the
                server that takes it.
            env_vars: variables besides those of the constructor.
            kwargs: `workers`, 1 by default.

        Returns:
            Its address, which need not answer yet: `wait_for_ready`.

        Raises:
            ProviderError: one runs already, or the server died. Nothing is left of it.
            NotReady: no port within `context_timeout_s`. Nothing is left of it.
        """
        if self._current is not None:
            raise ProviderError("the server runs already; stop() it before another start()")
        launch = Launch(port=port, env_vars=env_vars or {}, options=kwargs)
        server = self._begin(launch)
        if port is None:
            with unless_failed(server):
                server.find_address(self.context_timeout_s)
        self._current = server
        return server.url

    def stop(self) -> None:
        """Stops the server and all that it started; nothing if none runs."""
        if self._current is not None:
            self._current.stop()
            self._current = None

    def wait_for_ready(self, timeout_s: float | None = None) -> None:
        """Waits until the server is healthy.

        Args:
            timeout_s: how long; `context_timeout_s` by default.

        Raises:
            NotReady: it is not in time; a `TimeoutError`.
            ProviderError: it died, or none was started.
        """
        self._running().wait_until_healthy(
            self.context_timeout_s if timeout_s is None else timeout_s
        )

    def launch(self, launch: Launch) -> Running:
        """Starts a server beside the one of `start`, and waits until it is healthy.

        The launch's project and application go before those of the constructor.
        """
        return when_healthy(self._begin(launch), launch.ready_timeout_s)

    def _running(self) -> ServerProcess:
        if self._current is None:
            raise ProviderError("no server runs; start() one")
        return self._current

    def _begin(self, launch: Launch) -> ServerProcess:
        refuse_fields(launch, ("image",), "UVProvider")
        refuse_unknown(launch.options, ("workers",), "UVProvider")
        refuse_limits(launch.resources, "UVProvider")
        project = str(launch.project or self.project_path)
        server = ServerProcess(f"the server of {project}", self.host)
        with unless_failed(server):
            if project.startswith("git+"):
                project = _clone(project, server.scratch() / "project")
            _check_project(project)
            command = self._command(project, launch)
            server.start(command, self.env_vars | dict(launch.env_vars), project)
            if launch.port:
                server.url = reachable(f"http://{bracketed(self.host)}:{launch.port}")
        return server

    def _command(self, project: str, launch: Launch) -> list[str]:
        return [
            *(self._uv, "run", "--isolated", "--project", project, "--"),
            *("uvicorn", launch.app or self.app, "--host", self.host),
            *("--port", str(launch.port or 0)),
            *("--workers", str(launch.options.get("workers", 1)), "--log-level", "info"),
            *(["--reload"] if self.reload else []),
        ]


def find_uv() -> str:
    """On PATH, or where this Python's packages have their programs."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which("uv") or shutil.which("uv", path=beside)
    if found is None:
        raise NotAvailable(
            "uv not found on PATH; `pip install uv`, or see https://docs.astral.sh/uv"
        )
    return found


def _check_project(project: str) -> None:
    if not (Path(project) / "pyproject.toml").is_file():
        raise ProviderError(
            f"{project} is no project: it has no pyproject.toml; give the directory that has it"
        )


def _clone(url: str, directory: Path) -> str:
    """Clones `git+URL` or `git+URL@REVISION`; the directory of the clone."""
    source, revision = _split_revision(url.removeprefix("git+"))
    directory.mkdir()
    for command in (
        ("init", "--quiet"),
        ("fetch", "--quiet", "--depth=1", "--", source, revision or "HEAD"),
        ("checkout", "--quiet", "FETCH_HEAD"),
    ):
        run(
            ["git", "-C", str(directory), *command],
            timeout_s=CLONE_S,
            env={"GIT_TERMINAL_PROMPT": "0"},
        )
    return str(directory)


def _split_revision(source: str) -> tuple[str, str | None]:
    """An address, and the branch, tag or commit that stands after the first `@` of its path."""
    scheme, _, rest = source.partition("://")
    host, slash, path = rest.partition("/")
    path, _, revision = path.partition("@")
    return f"{scheme}://{host}{slash}{path}", revision or None
