"""What an environment tells about itself to people."""

from __future__ import annotations

from openenv.protocol.wire import BaseMessage


class EnvironmentMetadata(BaseMessage):
    """An environment's visiting card, as `GET /metadata` shows it."""

    name: str
    description: str
    readme_content: str | None = None
    version: str | None = None
    author: str | None = None
    documentation_url: str | None = None


def default_metadata(name: str) -> EnvironmentMetadata:
    """The card of an environment that says nothing about itself."""
    return EnvironmentMetadata(name=name, description=f"{name} environment", version="1.0.0")
