"""Executors for sessions that come and go.

Executors of one configuration share what makes their interpreters, and it ends with the last of
them. Here an idle one of each of the latest configurations is kept, so that a session which comes
after the last has gone begins in milliseconds.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any

from openenv.executor import PythonExecutor

Tools = Mapping[str, Callable[..., Any]]
NO_TOOLS: Tools = MappingProxyType({})

KEPT = 4
"""Configurations."""

_lock = threading.Lock()
_idle: OrderedDict[Hashable, PythonExecutor] = OrderedDict()


def executor(tools: Tools = NO_TOOLS, **configuration: Any) -> PythonExecutor:
    """A new executor.

    Args:
        tools: functions that the code may call by these names.
        **configuration: what else `PythonExecutor` takes, hashable.

    Raises:
        ConfigurationError: something of this cannot be.
    """
    made = PythonExecutor(tools=tools, **configuration)
    key = (os.getpid(), tuple(tools), *configuration.items())
    with _lock:
        if key not in _idle:
            _idle[key] = PythonExecutor(tools=dict.fromkeys(tools, _nothing), **configuration)
        _idle.move_to_end(key)
        surplus = [_idle.popitem(last=False)[1] for _ in range(len(_idle) - KEPT)]
    for each in surplus:
        each.close()
    return made


def _nothing(*_: Any, **__: Any) -> None:
    """An idle executor's tool."""
