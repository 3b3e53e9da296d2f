"""Servers."""

from openenv.server.app import create_app, create_fastapi_app
from openenv.server.http_server import HTTPEnvServer

__all__ = [
    "HTTPEnvServer",
    "create_app",
    "create_fastapi_app",
]
