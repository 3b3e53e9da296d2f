"""Atari 2600 games of the Arcade Learning Environment."""

from atari_env.client import AtariEnv
from atari_env.models import AtariAction, AtariObservation, AtariState

__all__ = ["AtariAction", "AtariEnv", "AtariObservation", "AtariState"]
