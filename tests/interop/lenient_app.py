"""`tiny` as the peer treats every environment: a step needs no reset."""

from openenv.core.env_server import create_app
from tests.interop.tiny import TinyAction, TinyEnv, TinyObservation


class LenientEnv(TinyEnv):
    REQUIRES_RESET = False


app = create_app(LenientEnv, TinyAction, TinyObservation, env_name="lenient", max_concurrent_envs=4)
