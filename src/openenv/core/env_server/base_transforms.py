"""Ready-made transforms."""

from openenv.env.transforms import CompositeTransform, NullTransform

__all__ = [
    "CompositeTransform",
    "NullTransform",
]
