"""The web interface, and what custom pages play with."""

from openenv.env.metadata import EnvironmentMetadata
from openenv.server.app import create_web_interface_app
from openenv.server.readme import load_environment_metadata
from openenv.server.web.manager import WebInterfaceManager
from openenv.server.web.quick_start import get_quick_start_markdown
from openenv.server.web.shared_episode import ActionLog, EpisodeState

__all__ = [
    "ActionLog",
    "EnvironmentMetadata",
    "EpisodeState",
    "WebInterfaceManager",
    "create_web_interface_app",
    "get_quick_start_markdown",
    "load_environment_metadata",
]
