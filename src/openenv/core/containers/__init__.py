"""Where environments run."""

__all__ = ()
