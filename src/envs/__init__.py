"""Environments under a checkout's folder: `envs.echo_env` is the very module `echo_env`.

Which one that is, Python says: an installed package, or a folder on the path. Where there is none,
it is looked for in the folders `envs` on the path, as `PYTHONPATH=checkout` puts one there. All
else in these folders is imported as if this package were not here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_MANIFEST = "openenv.yaml"


class _Environments:
    """Finds an environment's modules under the names that they have in a checkout.

    What it needs is imported when it is asked: until the finder is in its place, other threads
    that import from this package would be told that there is nothing.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parent, _, child = fullname.rpartition(".")
        if parent == __name__:
            own = _own_name(child)
        elif parent.startswith(f"{__name__}."):
            own = f"{sys.modules[parent].__name__}.{child}"
        else:
            return None
        from openenv._alias import alias

        return None if own == fullname else alias(fullname, own)


def _own_name(package: str) -> str:
    """The name that a package of this one is to be imported by.

    Raises:
        ModuleNotFoundError: there is none; the text says what to install.
    """
    from importlib.machinery import PathFinder
    from pkgutil import extend_path

    __path__[:] = extend_path(__path__, __name__)  # the path may have grown since
    here = f"{__name__}.{package}"
    if package.startswith("_"):
        return here
    if _is_installed(package) or _is_brought_by_a_checkout(package):
        return package
    if PathFinder.find_spec(here, __path__) is not None:
        return here
    return _declared(package)


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec(package)
    places = (spec and spec.submodule_search_locations) or ()
    return any(Path(place, _MANIFEST).is_file() for place in places)


def _is_brought_by_a_checkout(package: str) -> bool:
    from importlib.util import find_spec
    from pathlib import Path

    if find_spec(package) is not None:
        return False
    for folder in __path__:
        if Path(folder, package, _MANIFEST).is_file():
            sys.path.append(folder)  # so that it can import itself, and processes it starts can
            return True
    return False


def _declared(package: str) -> str:
    """The name of an installed environment that has no manifest; errors as of `_own_name`."""
    from openenv.catalog.installed import installed

    found = sorted({environment.package for environment in installed().values()})
    if package in found:
        return package
    distribution = f"openenv-{package.replace('_', '-')}"
    raise ModuleNotFoundError(
        f"no environment {package!r} is installed, and no folder envs/ on the path has it: "
        f"pip install {distribution}, or put its checkout on PYTHONPATH; "
        f"installed here: {', '.join(found) or 'none'}",
        name=f"{__name__}.{package}",
    )


sys.meta_path.insert(0, _Environments())
