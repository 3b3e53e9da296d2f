"""What an environment tells about itself to people."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

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


def default_metadata(made: type[Any] | None, name: str) -> EnvironmentMetadata:
    """The card of an environment that says nothing about itself: what its package says of it.

    Args:
        made: its class, beside which or one directory above its package's `openenv.yaml` lies;
            `None` where that is not known.
        name: what it is called.
    """
    module = None if made is None else sys.modules.get(made.__module__)
    told = _manifest(Path(getattr(module, "__file__", None) or ""))
    return EnvironmentMetadata(
        name=name,
        description=told.get("description", f"{name} environment"),
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
