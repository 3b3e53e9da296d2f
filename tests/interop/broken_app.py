"""An application whose environment can't be built."""

from openenv.core.env_server import create_app
from tests.interop.tiny import TinyAction, TinyEnv, TinyObservation


class BrokenEnv(TinyEnv):
    def __init__(self) -> None:
        raise RuntimeError("the licence server is down")


app = create_app(BrokenEnv, TinyAction, TinyObservation, env_name="broken")
