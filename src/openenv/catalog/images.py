"""Which image on this machine is an installed environment's."""

from __future__ import annotations

from openenv.catalog.installed import EnvironmentInfo
from openenv.protocol.errors import ProviderError

LOOK_S = 5.0
"""How long the engine may take to say whether it has an image, in seconds."""


def image_here(environment: EnvironmentInfo) -> str:
    """The image to start: its own name's if that is here, else what `openenv build` calls it.

    Where neither is here, or no engine says so, it is its own name's.
    """
    from openenv.providers.command import run
    from openenv.providers.engine import Engine

    built = f"openenv-{environment.env_key.replace('_', '-')}"
    try:
        engine = Engine()
        for image in (environment.default_image, built):
            looked = run([engine.program, "image", "inspect", image], timeout_s=LOOK_S, check=False)
            if looked.code == 0:
                return image
    except ProviderError:  # which starting it tells
        pass
    return environment.default_image
