"""Small things that clients share."""

from openenv.client.endpoint import convert_to_ws_url
from openenv.client.running import run_async_safely
from openenv.client.spaces import hf_space_subdomain

__all__ = [
    "convert_to_ws_url",
    "hf_space_subdomain",
    "run_async_safely",
]
