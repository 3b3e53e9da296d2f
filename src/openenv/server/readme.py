"""The README of an environment, wherever its author's packaging has put it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from openenv import settings
from openenv.env.environment import Environment
from openenv.env.metadata import EnvironmentMetadata, default_metadata
from openenv.env.spec import EnvironmentSource, EnvSpec, class_made_by

NAME = "README.md"
LARGEST_BYTES = 256 * 1024
_MANIFEST = "openenv.yaml"
_IN_CONTAINERS = (Path("/app/env") / NAME, Path("/app") / NAME)
_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\r?\n.*?(?:^---[ \t]*$\s*|\Z)", re.DOTALL | re.MULTILINE)


def load_environment_metadata(
    env: EnvironmentSource, env_name: str | None = None
) -> EnvironmentMetadata:
    """What an environment tells about itself, with its README. Nothing is built for it.

    Args:
        env: an instance, which is asked; or a class or factory, whose class says it.
        env_name: its name for people; that of its class by default.
    """
    if isinstance(env, Environment):
        return with_readme(env.get_metadata(), type(env), env_name)
    made = class_made_by(env)
    name = env_name or str(getattr(made or env, "__name__", type(env).__name__))
    return with_readme(default_metadata(made, name), made, env_name)


def metadata_of(spec: EnvSpec, env_name: str | None = None) -> EnvironmentMetadata:
    """The same of what is served; its name for people is the environment's own by default."""
    own = spec.make() if spec.shared else spec.make
    return load_environment_metadata(own, env_name or spec.name)


def with_readme(
    card: EnvironmentMetadata, made: type[Any] | None, env_name: str | None
) -> EnvironmentMetadata:
    """A card whose texts are prose, with the README that is found where it has none.

    Args:
        card: what the environment tells.
        made: its class; `None` where that is not known.
        env_name: its name for people, if it was given one.
    """
    readme = card.readme_content or found_readme(made, env_name)
    return card.model_copy(
        update={
            "description": prose(card.description) or f"{card.name} environment",
            "readme_content": None if readme is None else prose(readme),
        }
    )


def prose(text: str) -> str:
    """A text without the YAML front matter that Spaces keep above it."""
    return _FRONT_MATTER.sub("", text, count=1)


def found_readme(made: type[Any] | None, env_name: str | None) -> str | None:
    """The first README there is.

    That is the one that `ENV_README_PATH` names, one beside the manifest, in `envs/` here, in the
    distribution that brought the package, or in a container's `/app`.

    Args:
        made: the environment's class; `None` where that is not known.
        env_name: its name for people, if it was given one.
    """
    named = settings.readme_path()
    own = [Path(named)] if named else []
    here = [Path("envs") / env_name / NAME] if env_name and _is_plain(env_name) else []
    for path in (*own, *_beside_manifest(made), *here):
        if (text := _read(path)) is not None:
            return text
    if (text := _of_distribution(made)) is not None:
        return text
    return next(filter(None, map(_read, _IN_CONTAINERS)), None)


def _is_plain(name: str) -> bool:
    return Path(name).name == name


def _beside_manifest(made: type[Any] | None) -> Iterator[Path]:
    module = None if made is None else sys.modules.get(made.__module__)
    file = getattr(module, "__file__", None)
    for folder in Path(file).parents[:3] if file else ():
        if (folder / _MANIFEST).is_file():
            yield folder / NAME


def _of_distribution(made: type[Any] | None) -> str | None:
    """The long description of the distribution that is called as the package: its README."""
    package = "" if made is None else made.__module__.partition(".")[0]
    if package in ("", "openenv", "__main__"):
        return None
    for name in (package, f"openenv-{package}"):
        with suppress(PackageNotFoundError):
            text = metadata(name).json.get("description")
            if isinstance(text, str) and text.strip():
                return text[:LARGEST_BYTES]
    return None


def _read(path: Path) -> str | None:
    """A file's text; `None` if there is none, or it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_BYTES).decode("utf-8", "replace") or None
    except OSError:
        return None
