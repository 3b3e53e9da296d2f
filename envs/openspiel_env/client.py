"""The typed client of the OpenSpiel environment."""

from __future__ import annotations

from openenv import EnvClient
from openspiel_env.models import OpenSpielAction, OpenSpielObservation, OpenSpielState


class OpenSpielEnv(EnvClient[OpenSpielAction, OpenSpielObservation, OpenSpielState]):
    """A seat in one of OpenSpiel's games."""
