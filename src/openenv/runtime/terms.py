"""Terms: what all sessions of a server have in common."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from openenv.env.spec import UNKNOWN, Traits
from openenv.protocol.wire import ServerMode
from openenv.runtime.limits import Limits


@dataclass(frozen=True)
class Terms:
    """What all seats of a server have in common.

    Attributes:
        limits: their bounds.
        clock: seconds, monotonic.
        traits: what the environment's class says of itself.
        mode: for whom the server is.
    """

    limits: Limits
    clock: Callable[[], float] = time.monotonic
    traits: Traits = UNKNOWN
    mode: ServerMode = ServerMode.SIMULATION
