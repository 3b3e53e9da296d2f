"""Small things that clients share."""

from openenv.client.endpoint import convert_to_ws_url

__all__ = [
    "convert_to_ws_url",
]
