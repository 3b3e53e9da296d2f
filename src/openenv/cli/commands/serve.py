"""`openenv serve`: an environment on a port."""

from __future__ import annotations

from typing import Annotated, Literal

import typer


def serve(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="FILE.py, FILE.py:CLASS, MODULE:CLASS, a directory that holds openenv.yaml, an "
            "installed package, or gym:ID for an environment of Gymnasium.",
        ),
    ] = ".",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="0 picks a free one.")
    ] = 8000,
    mode: Annotated[
        Literal["simulation", "production"] | None,
        typer.Option(help="Everything, or tools alone: nobody controls an episode."),
    ] = None,
    host_kind: Annotated[
        Literal["inline", "thread", "process", "sandbox"] | None,
        typer.Option(help="Where each session's environment lives."),
    ] = None,
    isolation: Annotated[
        Literal["best", "strict"] | None,
        typer.Option(help="Of a sandbox: what this machine can do, or all of it or nothing."),
    ] = None,
    max_sessions: Annotated[
        int | None, typer.Option(min=1, help="How many sessions may be open at once, per worker.")
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=1, help="Server processes on the port; more than one: no HTTP episodes."),
    ] = 1,
    reload: Annotated[
        bool, typer.Option("--reload", help="Begin anew when a Python file changes.")
    ] = False,
    web: Annotated[
        bool | None, typer.Option("--web/--no-web", help="Serve the web page at /web/, or none.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            help="What callers must show. Better set OPENENV_TOKEN: others see a command line."
        ),
    ] = None,
) -> None:
    """Serve an environment until Ctrl-C or SIGTERM."""
    from openenv.project.serving import ServeOptions, serve_target

    serve_target(
        target,
        ServeOptions(
            host=host,
            port=port,
            mode=mode,
            host_kind=host_kind,
            isolation=isolation,
            max_sessions=max_sessions,
            workers=workers,
            reload=reload,
            web=web,
            token=token,
        ),
    )
