"""The web interface as part of an application."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import FastAPI

from openenv.server.web.config import Configuration
from openenv.server.web.options import Served, WebOptions
from openenv.server.web.page import Page
from openenv.server.web.policy import SPACES
from openenv.server.web.routes import add_routes


def add_page(
    app: FastAPI, served: Served, options: WebOptions, allowed_origins: Iterable[str]
) -> Page:
    """Adds the page to an application, whose own routes come first.

    Args:
        app: the application.
        served: what is served.
        options: what the author says of the page.
        allowed_origins: other origins whose pages may show it in a frame.

    Returns:
        The page, for those who may see nothing else.

    Raises:
        MissingPackage: there is a Gradio builder, and Gradio is not installed.
        TypeError: the builder gave no `gradio.Blocks`.
    """
    add_routes(app, served, options)
    page = Page(Configuration(served, options).read, [SPACES, *allowed_origins])
    app.router.default = page.before(app.router.default)
    return page
