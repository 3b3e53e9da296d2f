"""What an environment tells about itself to people."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from openenv.env.docstrings import Docstring
from openenv.protocol.wire import BaseMessage

_MANIFEST = "openenv.yaml"
_LARGEST_BYTES = 1 << 20


class EnvironmentMetadata(BaseMessage):
    """An environment's visiting card, as `GET /metadata` shows it."""

    name: str
    description: str
    readme_content: str | None = None
    version: str | None = None
    author: str | None = None
    documentation_url: str | None = None


def description_of(made: type[Any] | None) -> str | None:
    """What an environment's class says in its docstring; `None` if that is nothing of its own.

    Args:
        made: the class; `None` where that is not known.
    """
    for base in () if made is None else made.__mro__:
        if base.__module__.partition(".")[0] == "openenv":
            return None
        said = base.__dict__.get("__doc__")
        if said and not said.startswith(f"{base.__name__}("):  # which dataclasses say by themselves
            return Docstring.of(base).text or None
    return None


def default_metadata(made: type[Any] | None, name: str) -> EnvironmentMetadata:
    """The card of an environment that has no other: what its package, or else its docstring, says.

    Args:
        made: its class, beside which or one directory above its package's `openenv.yaml` lies;
            `None` where that is not known.
        name: what it is called.
    """
    module = None if made is None else sys.modules.get(made.__module__)
    told = _manifest(Path(getattr(module, "__file__", None) or ""))
    return EnvironmentMetadata(
        name=name,
        description=told.get("description") or description_of(made) or f"{name} environment",
        version=told.get("version", "1.0.0"),
    )


@lru_cache(maxsize=64)
def _manifest(module: Path) -> dict[str, str]:
    """What a package's manifest says of its description and version; nothing if it is unreadable.

    The catalog tells what is wrong with a manifest; whoever asks for a card still gets one.
    """
    try:
        import yaml

        beside = (folder / _MANIFEST for folder in module.parents[:2])
        path = next(path for path in beside if path.is_file())
        with path.open("rb") as file:
            content = yaml.safe_load(file.read(_LARGEST_BYTES))
        return {key: str(content[key]) for key in ("description", "version") if content.get(key)}
    except Exception:  # noqa: BLE001  # it is somebody's file, and may hold anything
        return {}
