"""`openenv serve`: an environment on a port."""

from __future__ import annotations

from typing import Annotated, Literal

import typer


def serve(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="FILE.py, FILE.py:CLASS, MODULE:CLASS, a directory that holds openenv.yaml, or "
            "gym:ID for an environment of Gymnasium.",
        ),
    ] = ".",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="0 picks a free one.")
    ] = 8000,
    host_kind: Annotated[
        Literal["inline", "thread", "process"] | None,
        typer.Option(help="Where each session's environment lives."),
    ] = None,
    max_sessions: Annotated[
        int | None, typer.Option(min=1, help="How many sessions may be open at once.")
    ] = None,
) -> None:
    """Serve an environment until Ctrl-C or SIGTERM."""
    from openenv.project.target import resolve
    from openenv.server import run

    found = resolve(target)
    if found.is_app and (host_kind or max_sessions):
        raise typer.BadParameter(
            f"{target} is a ready app, which settles --host-kind and --max-sessions itself; set "
            "OPENENV_HOST_KIND or MAX_CONCURRENT_ENVS instead, or name the environment's class"
        )
    if found.is_app:
        run.serve_app(found.served, host, port)
    else:
        run.serve(found.served, host, port, host_kind=host_kind, max_sessions=max_sessions)
