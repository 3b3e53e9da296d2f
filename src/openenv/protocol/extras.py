"""Packages that only a part of the users needs, and how to get one that is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from openenv.protocol.errors import ConfigurationError


class MissingPackage(ConfigurationError, ImportError):
    """A package is not installed that is needed here."""


@contextmanager
def needs(requirement: str) -> Iterator[None]:
    """Says of imports that fail in its block what to install.

    ```python
    with needs("openenv-chess-env[server]"):
        import chess
    ```

    Args:
        requirement: what `pip install` is given to get them.

    Raises:
        MissingPackage: an import failed. It says which, and what to install.
    """
    try:
        yield
    except ImportError as error:
        missing = MissingPackage(f"{error}; pip install '{requirement}'")
        missing.name = error.name
        raise missing from error
