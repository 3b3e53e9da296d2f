"""Servers in processes of their own on one port: several at once, or one that follows the files."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from starlette.responses import PlainTextResponse

from openenv import settings
from openenv.project.errors import ProjectError
from openenv.project.target import Target, resolve
from openenv.runtime.nursery import FORKS
from openenv.server import run
from openenv.server.app import create_app
from openenv.server.asgi import Receive, Scope, Send

START_FAILED = 3
"""The exit code of a server that could not start, as uvicorn's own."""
FAILED_STARTS = 3
"""How many failed starts in a row end the whole server."""
GRACE_S = 60.0
"""How long workers may take to end; their own limits are shorter."""

_spawn = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Serving:
    """What each process does: serve a target on a socket that listens already.

    Attributes:
        target: what is served, as on the command line.
        quiet: somebody else says where the server is.
        patient: a target that is broken may be mended: until then callers are told to wait.
    """

    target: str
    quiet: bool = False
    patient: bool = False

    def __call__(self, sockets: list[socket.socket] | None = None) -> None:
        """Serves until a signal, or until the process that started it is gone."""
        [listening] = sockets or []
        _end_with_parent()
        try:
            server = run.server_for(as_app(resolve(self.target)), listening, quiet=self.quiet)
        except Exception as error:  # noqa: BLE001  # the process has nobody else to tell it to
            sys.stderr.write(f"Error: {error}\n")
            if not self.patient:
                sys.exit(START_FAILED)
            sys.stderr.write("openenv: waiting for a change of the files\n")
            server = run.server_for(_broken, listening, quiet=True)
        server.run(sockets=[listening])


async def _broken(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers everybody that there is nothing to be served yet."""
    if scope["type"] == "http" or scope["type"] == "websocket":
        told = (
            "the environment cannot be imported; the server's log says why, and waits for a change"
        )
        await PlainTextResponse(told, 503)(scope, receive, send)


def as_app(found: Target) -> Any:
    """The ASGI application of a target."""
    return found.served if found.is_app else create_app(found.served)


def serve_workers(target: str, app: Any, listening: socket.socket, workers: int) -> None:
    """Serves with several processes until SIGTERM or Ctrl-C; one that dies is started again.

    Args:
        target: what each process resolves anew.
        app: the same, resolved here, so that what is wrong with it is known before they start.
        listening: the socket that they share.
        workers: how many.

    Raises:
        ProjectError: they fail to start, again and again.
    """
    told = run.greeting(app, listening, f" with {workers} workers")
    serving = Serving(target, quiet=True)
    wanted = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: wanted.set())
    pool = [_Worker(serving, listening) for _ in range(workers)]
    sys.stderr.write(told)
    try:
        while not wanted.is_set():
            connection.wait([worker.process.sentinel for worker in pool], timeout=0.2)
            pool = [
                worker if worker.process.is_alive() or wanted.is_set() else worker.again()
                for worker in pool
            ]
    finally:
        _end([worker.process for worker in pool])


def serve_reloading(target: str, listening: socket.socket) -> None:
    """Serves in one process that begins anew when a Python file near the target changes."""
    import uvicorn
    from uvicorn.supervisors import ChangeReload

    _hide_secrets()
    path = Path(target.partition(":")[0])
    watched = path if path.is_dir() else path.parent
    config = uvicorn.Config(
        "openenv:served", reload=True, reload_dirs=[str(watched)], log_level="warning"
    )
    ChangeReload(config, target=Serving(target, patient=True), sockets=[listening]).run()


class _Worker:
    """One of several processes, and how often it failed to start."""

    def __init__(self, serving: Serving, listening: socket.socket, failures: int = 0) -> None:
        self._serving = serving
        self._listening = listening
        self._failures = failures
        _hide_secrets()
        self.process: SpawnProcess = _spawn.Process(target=serving, args=([listening],))
        self.process.start()

    def again(self) -> _Worker:
        """The worker that takes its place."""
        code = self.process.exitcode
        failures = self._failures + 1 if code == START_FAILED else 0
        if failures >= FAILED_STARTS:
            raise ProjectError(
                f"a worker of {self._serving.target} could not start, {failures} times in a row; "
                "what it said is above. Serve with one worker to see it alone"
            )
        sys.stderr.write(f"openenv: a worker ended with exit code {code}; starting another\n")
        return _Worker(self._serving, self._listening, failures)


def _hide_secrets() -> None:
    """Keeps from sessions, which have the server's user, what processes beside it know.

    Those that serve hide themselves. This one has to, too, and the one that `multiprocessing`
    starts besides must not know.
    """
    if FORKS:
        from openenv.runtime.confine import shield  # of Linux alone

        shield()
        with settings.hidden_secrets():
            resource_tracker.ensure_running()


def _end(processes: list[SpawnProcess]) -> None:
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + GRACE_S
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def _end_with_parent() -> None:
    """A server whose supervisor was killed does not outlive it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="openenv-parent", daemon=True).start()
