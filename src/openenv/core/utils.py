"""Small things that clients share."""

from openenv.client.endpoint import convert_to_ws_url
from openenv.client.running import run_async_safely

__all__ = [
    "convert_to_ws_url",
    "run_async_safely",
]
