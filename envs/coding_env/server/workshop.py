"""Executors for sessions that come and go.

Executors of one configuration share what makes their interpreters, and it ends with the last of
them. Here that is kept for the latest configurations, so that a session which comes after the last
has gone begins in milliseconds.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any

from openenv.executor import Inside, PythonExecutor
from openenv.executor.foundry import Warmth

Tools = Mapping[str, Callable[..., Any] | Inside]
NO_TOOLS: Tools = MappingProxyType({})

KEPT = 4
"""Configurations."""

_lock = threading.Lock()
_warm: OrderedDict[Hashable, Warmth] = OrderedDict()


def executor(tools: Tools = NO_TOOLS, **configuration: Any) -> PythonExecutor:
    """A new executor.

    Args:
        tools: functions that the code may call by these names.
        **configuration: what else `PythonExecutor` takes, hashable.

    Raises:
        ConfigurationError: something of this cannot be.
    """
    made = PythonExecutor(tools=tools, **configuration)
    warmth = made.keep_warm()
    key = os.getpid(), warmth.kind
    with _lock:
        surplus = [] if (former := _warm.pop(key, None)) is None else [former]
        _warm[key] = warmth
        surplus += [_warm.popitem(last=False)[1] for _ in range(len(_warm) - KEPT)]
    for each in surplus:
        each.close()
    return made
