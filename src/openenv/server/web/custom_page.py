"""A page of the author's own, made with Gradio, at `/web/custom/`."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.routing import Mount

from openenv.env.spec import EnvSpec
from openenv.server.asgi import App, Receive, Scope, Send
from openenv.server.authority import may_control
from openenv.server.guard import CUSTOM, refuse_control
from openenv.server.web import gradio_theme
from openenv.server.web.action_fields import action_fields
from openenv.server.web.chat import is_chat
from openenv.server.web.gradio_page import get_gradio_display_title
from openenv.server.web.manager import WebInterfaceManager
from openenv.server.web.options import WebOptions
from openenv.server.web.quick_start import get_quick_start_markdown

PATH = CUSTOM.rstrip("/")


def add_custom_page(
    app: FastAPI, manager: WebInterfaceManager, spec: EnvSpec, options: WebOptions
) -> None:
    """Builds the page and adds it to an application.

    Args:
        app: the application.
        manager: what the page plays with.
        spec: the environment.
        options: the builder, and what the author says besides.

    Raises:
        MissingPackage: Gradio is not installed.
        TypeError: the builder gave no `gradio.Blocks`.
    """
    gr = gradio_theme.gradio()
    blocks = _built(gr, manager, spec, options)
    gr.mount_gradio_app(
        app,
        blocks,
        PATH,
        ssr_mode=False,
        mcp_server=False,
        theme=gradio_theme.OPENENV_GRADIO_THEME,
        css=gradio_theme.OPENENV_GRADIO_CSS,
    )
    mounted = next(route for route in app.routes if getattr(route, "path", None) == PATH)
    assert isinstance(mounted, Mount)
    mounted.app = _Controlled(mounted.app)


def _built(gr: Any, manager: WebInterfaceManager, spec: EnvSpec, options: WebOptions) -> Any:
    assert options.builder is not None
    metadata = manager.metadata
    blocks = options.builder(
        manager,
        action_fields(spec.action),
        metadata,
        is_chat(spec),
        options.title or get_gradio_display_title(metadata),
        get_quick_start_markdown(metadata, spec.action, spec.observation),
    )
    if not isinstance(blocks, gr.Blocks):
        raise TypeError(
            f"gradio_builder must return a gradio.Blocks, got {type(blocks).__name__}: end it with "
            "`return demo`"
        )
    return blocks


class _Controlled:
    """The page for those who may control episodes: its buttons do, whoever presses them."""

    def __init__(self, page: App) -> None:
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a connection, or refuses it."""
        page: App = self._page if may_control(scope) else refuse_control
        await page(scope, receive, send)
