"""What a program imports to play a served environment."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from openenv.env.spec import EnvSpec

_CLIENT = ("openenv.client.env_client", "EnvClient")


def import_names(spec: EnvSpec) -> dict[str, str | None] | None:
    """The package of an environment, and the names in it of its client and its action.

    Args:
        spec: the environment.

    Returns:
        `module`, `client` and `action`, the last `None` if the package has no name for it; `None`
        if there is no package with one client: any environment has a `GenericEnvClient`.
    """
    package = _package(spec.made) or _package(spec.action)
    if package is None:
        return None
    public = dict(_public(package))
    clients = [name for name, value in public.items() if _is_client(value)]
    if len(clients) != 1:
        return None
    action = next((name for name, value in public.items() if value is spec.action), None)
    return {"module": package.__name__, "client": clients[0], "action": action}


def _package(made: Any) -> ModuleType | None:
    """The package of a class, if it is one that can be imported, and not this library."""
    name = str(getattr(made, "__module__", "")).partition(".")[0]
    module = sys.modules.get(name)
    return module if name != "openenv" and hasattr(module, "__path__") else None


def _public(package: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in getattr(package, "__all__", ()):
        try:
            yield name, getattr(package, name)
        except Exception:  # noqa: BLE001  # a name that its author imports late, in vain
            continue


def _is_client(value: Any) -> bool:
    """Whether it is a client of the author's own. A server imports no client to tell."""
    family = [(base.__module__, base.__qualname__) for base in getattr(value, "__mro__", ())]
    return _CLIENT in family[1:] and not family[0][0].startswith("openenv.")
