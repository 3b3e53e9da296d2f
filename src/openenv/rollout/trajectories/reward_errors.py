"""Why a step has no reward though it should have one."""

from __future__ import annotations

import math
from typing import Any

from openenv.protocol.errors import Json

REWARD_ERROR = "reward_error"
"""Where an environment says it, in the metadata of an observation."""


def reward_failure(reward: Any, metadata: Json) -> Json | None:
    """What failed: `rubric` (`None` for the environment itself), `error` and `message`.

    Args:
        reward: what came as the step's reward.
        metadata: what came along with it.
    """
    said = metadata.get(REWARD_ERROR)
    if said is not None:
        return said if isinstance(said, dict) else _of_nobody("RewardError", str(said))
    if isinstance(reward, float) and not math.isfinite(reward):
        return _of_nobody("ValueError", f"the environment's own reward is {reward}")
    return None


def _of_nobody(error: str, message: str) -> Json:
    """A failure that no rubric has told of."""
    return {"rubric": None, "error": error, "message": message}
