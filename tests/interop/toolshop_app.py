"""`toolshop` as an application for uvicorn, with room for one, made by whichever is installed."""

from openenv.core.env_server import CallToolAction, CallToolObservation, create_app
from tests.interop.toolshop import Toolshop

app = create_app(
    Toolshop, CallToolAction, CallToolObservation, env_name="toolshop", max_concurrent_envs=1
)
