"""A Gradio page for any environment."""

from openenv.server.web.gradio_page import build_gradio_app, get_gradio_display_title

__all__ = [
    "build_gradio_app",
    "get_gradio_display_title",
]
