"""GET endpoints as a list."""

from openenv.server.route_config import GetEndpointConfig, register_get_endpoints

__all__ = [
    "GetEndpointConfig",
    "register_get_endpoints",
]
