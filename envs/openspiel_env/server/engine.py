"""OpenSpiel, or what to install to have it."""

from __future__ import annotations

from openenv import needs

with needs("openenv-openspiel-env[server]"):
    import pyspiel  # type: ignore[import-not-found]  # a compiled module without stubs

__all__ = ["pyspiel"]
