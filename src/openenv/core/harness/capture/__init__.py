"""What a trainer asks of the engine whose calls are recorded."""

__all__ = ()
