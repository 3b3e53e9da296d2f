"""Environments that are installed here. They are looked for anew each time: nothing is stale.

A package is found by its entry point in the group `openenv.environments`, as `name = "package"` or
`name = "package:ClientClass"`, or by its distribution's name: `openenv-echo-env` brings the package
`echo_env`, which has an `openenv.yaml` or a module `client`.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from openenv.catalog.manifest import MANIFEST, Manifest, ManifestError, read_manifest
from openenv.protocol.errors import ConfigurationError

GROUP = "openenv.environments"
_PREFIX = "openenv-"
_OURS = frozenset({"openenv-core"})
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EnvironmentInfo:
    """An environment that is installed here.

    Attributes:
        env_key: its shortest name, `echo`.
        name: its package's name, or the one of its entry point: `echo_env`.
        package_name: its distribution's name.
        version: its distribution's version.
        description: a line for people.
        client_module_path: the module that has its client.
        client_class_name: the client's class there.
        action_class_name: the action's class, there or in the package.
        observation_class_name: likewise the observation's.
        default_image: the container image that it is expected in.
        spec_version: of its manifest.
        manifest: the manifest, without what was left out.
        package: the package that is imported.
        directory: where the package lies.
        problem: what is wrong with its manifest.
    """

    env_key: str
    name: str
    package_name: str
    version: str
    description: str
    client_module_path: str
    client_class_name: str
    action_class_name: str
    observation_class_name: str
    default_image: str
    spec_version: int | None = None
    manifest: dict[str, Any] | None = None
    package: str = ""
    directory: Path | None = None
    problem: str | None = None

    def get_client_class(self) -> type[Any]:
        """The client's class; errors as `openenv.catalog.classes.client_class`."""
        from openenv.catalog.classes import client_class

        return client_class(self)

    def get_action_class(self) -> type[Any]:
        """The action's class; errors as of the client's."""
        from openenv.catalog.classes import action_class

        return action_class(self)

    def get_observation_class(self) -> type[Any]:
        """The observation's class; errors as of the client's."""
        from openenv.catalog.classes import observation_class

        return observation_class(self)


def installed() -> dict[str, EnvironmentInfo]:
    """Every environment that is installed here, by its key. None is imported."""
    importlib.invalidate_caches()
    found: dict[str, EnvironmentInfo] = {}
    packages: set[str] = set()
    for offer in sorted(_offers(), key=lambda offer: (not offer.declared, offer.name)):
        directory = _directory(offer.package)
        if directory is None or offer.package in packages or not _looks_right(offer, directory):
            continue
        packages.add(offer.package)
        environment = _described(offer, directory)
        found.setdefault(environment.env_key, environment)
    return dict(sorted(found.items()))


def find(name: str) -> EnvironmentInfo:
    """The environment that somebody means: `echo`, `echo-env`, `echo_env` or `openenv-echo-env`.

    Raises:
        ConfigurationError: none is called that; the text says which are called alike.
    """
    environments = installed()
    environment = environments.get(key_of(name))
    if environment is not None:
        return environment
    alike = get_close_matches(key_of(name), environments, cutoff=0.5)
    hint = f"\nDid you mean: {', '.join(alike)}?" if alike else ""
    known = ", ".join(environments) or "none; pip install one, or name a Space: owner/name"
    raise ConfigurationError(
        f"Unknown environment {name!r}: none is installed under that name.{hint}\n"
        f"Installed environments: {known}"
    )


def key_of(name: str) -> str:
    """The key of an environment that is called that."""
    word = re.sub(r"[-_. ]+", "_", name.strip().lower()).removeprefix("openenv_")
    return word.removesuffix("_env") or word


@dataclass(frozen=True)
class _Offer:
    """A distribution that says it brings an environment, or is called as if it did."""

    name: str
    package: str
    client: str | None
    distribution: Distribution
    declared: bool


def _offers() -> Iterator[_Offer]:
    for distribution in distributions():
        try:
            yield from _of(distribution)
        except Exception as error:  # noqa: BLE001  # one broken package hides no other
            _log.debug("a package's metadata cannot be read: %s", error)


def _of(distribution: Distribution) -> list[_Offer]:
    name: str | None = distribution.metadata["Name"]
    if not name:
        return []
    offers = []
    for entry in distribution.entry_points:
        if entry.group == GROUP:
            package, _, client = entry.value.partition(":")
            offers.append(_Offer(entry.name, package.strip(), client or None, distribution, True))
    spelled = re.sub(r"[-_.]+", "-", name).lower()
    if spelled.startswith(_PREFIX) and spelled not in _OURS:
        package = spelled.removeprefix(_PREFIX).replace("-", "_")
        offers.append(_Offer(package, package, None, distribution, False))
    return offers


def _directory(package: str) -> Path | None:
    """Where a package lies, or a module; neither is imported for it. `None` if there is none."""
    top, *inner = package.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    if not inner and spec.submodule_search_locations is None:
        return Path(spec.origin).parent if spec.origin else None
    for place in spec.submodule_search_locations or ():
        path = Path(place, *inner)
        if path.is_dir():
            return path
        if path.with_name(f"{path.name}.py").is_file():
            return path.parent
    return None


def _looks_right(offer: _Offer, directory: Path) -> bool:
    """Whether it is an environment, and no other package that is called alike."""
    files = (MANIFEST, "client.py", "client")
    return offer.declared or any((directory / file).exists() for file in files)


def _described(offer: _Offer, directory: Path) -> EnvironmentInfo:
    manifest, problem = _manifest(directory)
    said = Manifest.model_validate({"name": offer.name}) if manifest is None else manifest
    key = key_of(offer.name)
    prefix = "".join(word[:1].upper() + word[1:] for word in key.split("_"))
    both = said.action is not None and said.observation is not None
    metadata = offer.distribution.metadata
    has_client = (directory / "client.py").exists() or (directory / "client").exists()
    return EnvironmentInfo(
        env_key=key,
        name=offer.name,
        package_name=metadata["Name"],
        version=str(metadata["Version"] or "unknown"),
        description=said.description or metadata["Summary"] or f"{offer.name} environment",
        client_module_path=offer.package
        if offer.client or not has_client
        else f"{offer.package}.client",
        client_class_name=offer.client or f"{prefix}Env",
        action_class_name=said.action if both and said.action else f"{prefix}Action",
        observation_class_name=said.observation
        if both and said.observation
        else f"{prefix}Observation",
        default_image=f"{offer.name.replace('_', '-')}:latest",
        spec_version=None if manifest is None else manifest.spec_version,
        manifest=None if manifest is None else manifest.model_dump(exclude_unset=True),
        package=offer.package,
        directory=directory,
        problem=problem,
    )


def _manifest(directory: Path) -> tuple[Manifest | None, str | None]:
    if not (directory / MANIFEST).exists():
        return None, None
    try:
        return read_manifest(directory), None
    except ManifestError as error:
        return None, str(error)
