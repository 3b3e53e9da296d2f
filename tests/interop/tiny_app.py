"""`tiny` as an application for uvicorn, made by whichever package is installed."""

from openenv.core.env_server import create_app
from tests.interop.tiny import TinyAction, TinyEnv, TinyObservation

SESSIONS = 4

app = create_app(
    TinyEnv, TinyAction, TinyObservation, env_name="tiny", max_concurrent_envs=SESSIONS
)
