"""`openenv web`: the web page against a server that runs elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer


def web(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="A running server, with a page of its own or none, or the page of a Space.",
        ),
    ],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="0 picks a free one.")
    ] = 8080,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open it in a browser, or say where it is.")
    ] = False,
) -> None:
    """Show a running server's environment in the browser, until Ctrl-C or SIGTERM.

    The server is shown the token in OPENENV_CLIENT_TOKEN, if there is one.
    """
    from openenv.project.page.serving import serve_page

    serve_page(url, host, port, show=show)
