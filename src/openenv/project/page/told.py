"""What is believed of what a server elsewhere says of its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openenv._version import __version__
from openenv.protocol.wire import ServerMode

_Check = Callable[[Any], bool]


def believed(said: Any) -> dict[str, Any]:
    """What the page goes by: what is said as a server says it, and otherwise what holds for any.

    Args:
        said: what was sent as `config.json`.
    """
    told = said if isinstance(said, dict) else {}
    return {
        name: told[name] if name in told and fits(told[name]) else untold
        for name, (untold, fits) in _KNOWN.items()
    }


def _is_mode(value: Any) -> bool:
    return value in [mode.value for mode in ServerMode]


def _is_python(value: Any) -> bool:
    """Whether these are names to import: they become part of programs that people run."""
    if not isinstance(value, dict) or value.keys() != {"module", "client", "action"}:
        return False
    module, client, action = value["module"], value["client"], value["action"]
    return _is_name(module) and _is_name(client) and (action is None or _is_name(action))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _is(kind: type) -> _Check:
    return lambda value: isinstance(value, kind)


_KNOWN: dict[str, tuple[Any, _Check]] = {
    "version": (__version__, _is(str)),
    "mode": ("simulation", _is_mode),
    "watch": (False, _is(bool)),
    "needs_token": (False, _is(bool)),
    "reset": (None, _is(dict)),
    "python": (None, _is_python),
    "tools": (True, _is(bool)),
    "chat": (False, _is(bool)),
}
"""What there is to be told, what holds where it is not, and how it must look."""
