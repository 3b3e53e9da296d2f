"""What an environment is written against."""

from openenv.env.environment import (
    ActT,
    Environment,
    ObsT,
    StateT,
)
from openenv.env.metadata import EnvironmentMetadata
from openenv.env.models import Action, Observation, State
from openenv.env.shapes import Message, ModelTokenizer, TaskProvider
from openenv.env.transforms import Transform

__all__ = [
    "ActT",
    "Action",
    "Environment",
    "EnvironmentMetadata",
    "Message",
    "ModelTokenizer",
    "ObsT",
    "Observation",
    "State",
    "StateT",
    "TaskProvider",
    "Transform",
]
