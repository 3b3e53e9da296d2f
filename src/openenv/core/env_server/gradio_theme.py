"""How Gradio pages look."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.server.web.gradio_theme import OPENENV_GRADIO_CSS, OPENENV_GRADIO_THEME

__all__ = [
    "OPENENV_GRADIO_CSS",
    "OPENENV_GRADIO_THEME",
]

__getattr__ = lazy(
    __name__,
    {
        "OPENENV_GRADIO_CSS": "openenv.server.web.gradio_theme",
        "OPENENV_GRADIO_THEME": "openenv.server.web.gradio_theme",
    },
)
