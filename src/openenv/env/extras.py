"""Packages that only a part of the users needs, where authors of environments look for it."""

from openenv.protocol.extras import MissingPackage, needs

__all__ = ["MissingPackage", "needs"]
