"""AutoEnv and AutoAction, at the path of existing code."""

from openenv.catalog.auto import AutoAction, AutoEnv

__all__ = [
    "AutoAction",
    "AutoEnv",
]
