"""The provider of uv."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.providers.peer import RuntimeProvider
    from openenv.providers.uv import UVProvider

__all__ = [
    "RuntimeProvider",
    "UVProvider",
]

__getattr__ = lazy(
    __name__,
    {
        "RuntimeProvider": "openenv.providers.peer",
        "UVProvider": "openenv.providers.uv",
    },
)
