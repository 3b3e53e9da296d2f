"""How Gradio pages of ours look. The theme needs the extra `gradio`."""

from __future__ import annotations

import importlib
from typing import Any

from openenv.protocol.extras import needs

OPENENV_GRADIO_CSS = """
.gradio-container { width: 100%; max-width: 72rem !important; margin: 0 auto; }
.openenv-facts { font-variant-numeric: tabular-nums; }
"""


def gradio() -> Any:
    """The package, imported when it is needed: that takes seconds.

    Raises:
        MissingPackage: it is not installed; the text says what to install.
    """
    with needs("openenv-core[gradio]"):
        return importlib.import_module("gradio")


def __getattr__(name: str) -> Any:
    if name != "OPENENV_GRADIO_THEME":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    theme = globals()[name] = gradio().themes.Soft(
        primary_hue="indigo",
        neutral_hue="slate",
        font=["system-ui", "sans-serif"],  # what needs no other server
        font_mono=["ui-monospace", "monospace"],
    )
    return theme
