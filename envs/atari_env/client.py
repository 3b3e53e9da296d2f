"""The typed client of the Atari environment."""

from __future__ import annotations

from atari_env.models import AtariAction, AtariObservation, AtariState
from openenv import EnvClient


class AtariEnv(EnvClient[AtariAction, AtariObservation, AtariState]):
    """A console of one's own. Frames come as arrays, without a list of numbers in between."""
