"""`serve`: an environment as a running server, from first listening to a clean end."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn

from openenv.env.environment import HostKind
from openenv.env.spec import EnvironmentSource
from openenv.protocol.errors import ConfigurationError
from openenv.protocol.wire import ServerMode
from openenv.runtime.limits import Limits
from openenv.runtime.plan import MAIN
from openenv.runtime.sessions import Sessions
from openenv.server.app import create_app
from openenv.server.authority import Authority
from openenv.server.direct_websocket import DirectWebSocket
from openenv.server.guard import is_loopback
from openenv.server.patient_http import PatientHTTP

if TYPE_CHECKING:
    from openenv.runtime.confine import Isolation

BACKLOG = 2048
LAST_WORDS_S = 5.0
"""How long clients may take to read the last of what was sent to them, once the server ends."""


def serve(
    env: EnvironmentSource,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    host_kind: HostKind | None = None,
    isolation: Isolation | None = None,
    max_sessions: int | None = None,
    env_name: str | None = None,
    limits: Limits | None = None,
    token: str | None = None,
    web: bool | None = None,
    log_level: str = "warning",
) -> None:
    """Serves an environment until SIGTERM or Ctrl-C.

    Then it takes nothing new, lets running steps end (`limits.drain_grace` at most), closes every
    environment and returns.

    Args:
        env: an `Environment` class, a factory or an instance.
        host: the address to listen on; this machine alone by default.
        port: 0 picks a free one.
        host_kind: where environments live, over what the environment says.
        isolation: of a sandbox: `best` is what this machine has, `strict` all or nothing.
        max_sessions: sessions at once; `MAX_CONCURRENT_ENVS`, else 64, by default.
        env_name: the environment's name for people.
        limits: every other bound.
        token: what callers must show; `OPENENV_TOKEN`, else nothing, by default.
        web: serve the web page at `/web/`; as `ENABLE_WEB_INTERFACE` says, by default.
        log_level: uvicorn's.

    Raises:
        ConfigurationError: the address is taken, or something about the environment is wrong.
    """
    app = create_app(
        env,
        env_name=env_name,
        max_concurrent_envs=max_sessions,
        limits=limits,
        host_kind=host_kind,
        isolation=isolation,
        token=token,
        web=web,
    )
    serve_app(app, host, port, log_level=log_level)


def serve_app(
    app: Any, host: str = "127.0.0.1", port: int = 8000, *, log_level: str = "warning"
) -> None:
    """Serves a ready ASGI application; otherwise as `serve`."""
    with listen(host, port) as listening:
        serve_on(listening, app, log_level=log_level)


def serve_on(listening: socket.socket, app: Any, *, log_level: str = "warning") -> None:
    """Serves a ready ASGI application on a socket that listens already; otherwise as `serve`."""
    if MAIN in sys.modules:
        raise ConfigurationError(
            "a process host runs the script anew to find the environment in it, and it served "
            'again: put that call under `if __name__ == "__main__":`'
        )
    server_for(app, listening, log_level=log_level).run(sockets=[listening])


def server_for(
    app: Any, listening: socket.socket, *, log_level: str = "warning", quiet: bool = False
) -> Server:
    """The server of an application, on a socket that listens already.

    Args:
        app: any ASGI application.
        listening: a bound socket that listens.
        log_level: uvicorn's.
        quiet: it does not say where it is.
    """
    host, port = listening.getsockname()[:2]
    openenv = getattr(getattr(app, "state", None), "openenv", None)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=PatientHTTP,
        ws=DirectWebSocket,
        ws_per_message_deflate=False,
        ws_max_size=openenv.sessions.limits.max_message_bytes if openenv else 16 * 1024 * 1024,
        lifespan="auto",
        access_log=False,
        log_level=log_level,
    )
    return Server(config, "" if quiet else greeting(app, listening), openenv)


def greeting(app: Any, listening: socket.socket, addition: str = "") -> str:
    """Where a server is, in a line; another one if whoever reaches it may use it."""
    host, port = listening.getsockname()[:2]
    openenv = getattr(getattr(app, "state", None), "openenv", None)
    name: str = "app" if openenv is None else openenv.env_name or openenv.spec.name
    shown = f"[{host}]" if ":" in host else host
    agents = getattr(openenv, "mode", None) is ServerMode.PRODUCTION
    only = " in production: tools alone" if agents else ""
    has_page = getattr(openenv, "has_page", False)
    page = f" with a page at http://{shown}:{port}/web/" if has_page else ""
    line = f"openenv: serving {name} on http://{shown}:{port}{addition}{only}{page}\n"
    if not is_loopback(host) and getattr(openenv, "authority", Authority()).token is None:
        line += (
            "openenv: warning: whoever reaches this address can run episodes; set OPENENV_TOKEN to "
            "ask for a token, or serve this machine alone on 127.0.0.1 (the default)\n"
        )
    return line


class Server(uvicorn.Server):
    """uvicorn, with an orderly end: running steps finish, and the process exits with 0."""

    def __init__(self, config: uvicorn.Config, greeting: str, openenv: Any) -> None:
        super().__init__(config)
        self._greeting = greeting
        self._openenv = openenv

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Says where the server is, once it listens."""
        await super().startup(sockets)
        if self.started:
            sys.stderr.write(self._greeting)
            sys.stderr.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes nothing new, waits for what runs, then closes."""
        for listening in self.servers:
            listening.close()
        if self._openenv is not None:
            self._say_what_runs(self._openenv.sessions)
            await self._unless_forced(self._openenv.drain())
            if self.force_exit:
                await self._openenv.sessions.give_up()
            self.force_exit = False  # the environments are closed all the same
        overdue = asyncio.get_running_loop().call_later(LAST_WORDS_S, self._cut_off)
        await super().shutdown(sockets)
        overdue.cancel()

    def _say_what_runs(self, sessions: Sessions) -> None:
        if sessions.busy:
            sys.stderr.write(
                f"openenv: {sessions.busy} running call(s) may end within "
                f"{sessions.limits.drain_grace:g} s; a second Ctrl-C gives up on them\n"
            )

    def _cut_off(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    async def _unless_forced(self, work: Coroutine[Any, Any, None]) -> None:
        """Waits for some work, but no longer when Ctrl-C comes a second time."""
        working = asyncio.ensure_future(work)
        while not (working.done() or self.force_exit):
            await asyncio.wait([working], timeout=0.1)
        working.cancel()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Ends the server on a signal, and nothing more: a wanted end is no failure."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        wanted = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._on_signal) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; the address is checked before anything heavy starts.

    Raises:
        ConfigurationError: the address is taken or is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        advice = (
            "it is no address of this machine: leave the host out to serve this machine alone"
            if error.errno == errno.EADDRNOTAVAIL
            else "choose another port, or 0 for any free one"
            if error.errno in (errno.EADDRINUSE, errno.EACCES)
            else "the host must be a name or an address of this machine"
        )
        raise ConfigurationError(
            f"cannot listen on {host}:{port}: {error.strerror}; {advice}"
        ) from error
    listening.set_inheritable(False)
    return listening
