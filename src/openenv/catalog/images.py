"""Which image on this machine is an installed environment's."""

from __future__ import annotations

from openenv.catalog.installed import EnvironmentInfo
from openenv.protocol.errors import ProviderError

LOOK_S = 5.0
"""How long the engine may take to say whether it has an image, in seconds."""


def built_image(environment: EnvironmentInfo) -> str:
    """What `openenv build` calls its image when nobody says."""
    return f"openenv-{environment.env_key.replace('_', '-')}"


def image_here(environment: EnvironmentInfo) -> str | None:
    """The image that is on this machine: its own name's, else what `openenv build` makes.

    `None` where neither is here, or no engine says so.
    """
    from openenv.providers.command import run
    from openenv.providers.engine import Engine

    try:
        engine = Engine()
        for image in (environment.default_image, built_image(environment)):
            looked = run([engine.program, "image", "inspect", image], timeout_s=LOOK_S, check=False)
            if looked.code == 0:
                return image
    except ProviderError:  # which starting it tells
        pass
    return None
