"""What `openenv serve` does: options to settings, a socket, and one process or several."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openenv import settings
from openenv.project import supervise
from openenv.project.errors import UsageProblem
from openenv.project.target import resolve
from openenv.server import run
from openenv.server.authority import Authority


@dataclass(frozen=True)
class ServeOptions:
    """What the command line says; `None` leaves a matter to the environment and its variables.

    They are as `openenv.serve` describes them, and besides

    Attributes:
        host: the address to listen on.
        port: 0 picks a free one.
        mode: `simulation` or `production`.
        host_kind: where environments live.
        isolation: `best` or `strict`.
        max_sessions: sessions at once, per worker.
        workers: server processes on the port.
        reload: begin anew when a Python file changes.
        web: serve the web page, or none.
        token: what callers must show.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    mode: str | None = None
    host_kind: str | None = None
    isolation: str | None = None
    max_sessions: int | None = None
    workers: int = 1
    reload: bool = False
    web: bool | None = None
    token: str | None = field(default=None, repr=False)


def serve_target(target: str, options: ServeOptions) -> None:
    """Serves what a target names until SIGTERM or Ctrl-C.

    The options become environment variables before the target is imported, so that they reach an
    app that a package makes itself, and every process.

    Raises:
        UsageProblem: two options exclude each other, or a ready app settles one of them itself.
        TargetError: the target names nothing that can be served.
        ConfigurationError: the address is taken, or something about the environment is wrong.
    """
    if options.reload and options.workers > 1:
        raise UsageProblem("--reload follows one process; leave it out, or --workers")
    settings.preset(
        {
            "OPENENV_MODE": options.mode,
            "OPENENV_HOST_KIND": options.host_kind,
            "OPENENV_ISOLATION": options.isolation,
            "MAX_CONCURRENT_ENVS": options.max_sessions,
            "OPENENV_WORKERS": options.workers,
            "ENABLE_WEB_INTERFACE": None if options.web is None else str(options.web).lower(),
            "OPENENV_TOKEN": None
            if options.token is None
            else settings.checked_token(options.token),
        }
    )
    with run.listen(options.host, options.port) as listening:
        if options.reload:
            return supervise.serve_reloading(target, listening)
        app = supervise.as_app(resolve(target))
        _check(target, app, options)
        if options.workers > 1:
            return supervise.serve_workers(target, app, listening, options.workers)
        return run.serve_on(listening, app)


def _check(target: str, app: Any, options: ServeOptions) -> None:
    """An option that an app has settled otherwise is not silently left out."""
    server = getattr(getattr(app, "state", None), "openenv", None)
    authority = getattr(server, "authority", Authority())
    mode = getattr(server, "mode", None)
    settled = {
        "--mode": (options.mode, None if mode is None else mode.value),
        "--host-kind": (options.host_kind, getattr(server, "host_kind", None)),
        "--isolation": (options.isolation, getattr(server, "isolation", None)),
        "--max-sessions": (options.max_sessions, getattr(server, "max_concurrent_envs", None)),
        "--token": (options.token, authority.token),
        "--web": (options.web, getattr(server, "has_page", False)),
    }
    for option, (asked, got) in settled.items():
        if asked is not None and asked != got:
            raise UsageProblem(
                f"{target} is a ready app, which settles {option} itself; change its own code, or "
                "name the environment's class instead"
            )
