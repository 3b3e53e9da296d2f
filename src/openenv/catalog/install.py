"""Installing an environment's package from where it is published, with its user's consent."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from typing import Any

from openenv import settings
from openenv.catalog.installed import EnvironmentInfo, installed
from openenv.client.spaces import Space
from openenv.protocol.errors import ConfigurationError, NotAvailable, ProviderError
from openenv.providers.command import run, without_passwords
from openenv.providers.uv import find_uv

INSTALL_S = 1800.0
"""How long an installer may take, packages and all."""
_REPOSITORY = re.compile(r"git\+(?P<url>[a-z+]+://(?:[^@/#\s]+@)?[^@#\s]+)(?:@(?P<rev>[^@#\s]+))?")


@dataclass(frozen=True)
class Source:
    """A git repository that holds a package.

    Attributes:
        url: of the repository.
        revision: a commit, tag or branch; `None` is its newest.
    """

    url: str
    revision: str | None = None

    @classmethod
    def named(cls, name: str) -> Source:
        """By a Space's name, `owner/name[@revision]`, or by `git+https://…[@revision]`.

        Raises:
            ConfigurationError: it is neither.
        """
        if not name.startswith("git+"):
            return cls.named(Space.named(name).source)
        found = _REPOSITORY.fullmatch(name)
        if found is None:
            raise ConfigurationError(f"a repository is git+https://…[@revision], got {name!r}")
        return cls(found["url"].rstrip("/"), found["rev"])

    def __str__(self) -> str:
        at = f"@{self.revision}" if self.revision else ""
        return f"git+{self.url}{at}"


def from_source(name: str, *, trusted: bool = False) -> EnvironmentInfo:
    """The environment that a Space or a repository holds, installed if it is not yet.

    Its code runs here when it is installed and imported, so that is asked for first.

    Args:
        name: as `Source.named` takes it. With a revision, exactly that one.
        trusted: the answer; else it is in `OPENENV_TRUST_REMOTE_CODE`, or a terminal is asked.

    Raises:
        ConfigurationError: nobody agreed; or the package is there in another revision, which this
            program has imported already.
        ProviderError: the installer failed.
    """
    source = Source.named(name)
    found = _installed_from(source)
    if found is not None:
        return found
    _require_consent(source, trusted)
    _refuse_second_revision(source)
    _install(source)
    found = _installed_from(source)
    if found is None:
        raise ConfigurationError(
            f"{source} was installed, but brings no environment: a distribution openenv-NAME with "
            "a package NAME that has an openenv.yaml or a module client"
        )
    return found


def _require_consent(source: Source, trusted: bool) -> None:
    if trusted or settings.trusts_remote_code():
        return
    shown = without_passwords(str(source))
    if not sys.stdin.isatty():
        raise ConfigurationError(
            f"{shown} is not installed, and to install it is to run its code: pass "
            "trust_remote_code=True or set OPENENV_TRUST_REMOTE_CODE=1 if you trust it"
        )
    sys.stderr.write(f"{shown} is not installed. Installing it runs its code. Install it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise ConfigurationError(f"{shown} was not installed, as you said")


def _refuse_second_revision(source: Source) -> None:
    """Two revisions of a package in one program would mix their modules."""
    other = _installed_from(Source(source.url))
    if other is not None and other.package in sys.modules:
        raise ConfigurationError(
            f"another revision of {other.package_name} is in use in this program: use {source} in "
            "a program of its own, from the start"
        )


def _install(source: Source) -> None:
    """By uv where it is, which is faster, or by pip. Either runs what builds the package."""
    try:
        command = [find_uv(), "pip", "install", "--python", sys.executable]
    except NotAvailable:
        command = [sys.executable, "-m", "pip", "install", "--no-input"]
    try:
        run([*command, str(source)], timeout_s=INSTALL_S, trusted=False)
        if _installed_from(source) is None:  # another revision of the same version was there
            again = [*command, "--force-reinstall", "--no-deps", str(source)]
            run(again, timeout_s=INSTALL_S, trusted=False)
    except ProviderError as error:
        shown = without_passwords(str(source))
        raise type(error)(f"{shown} could not be installed: {error}") from error


def _installed_from(source: Source) -> EnvironmentInfo | None:
    """The environment that was installed from there, if one was."""
    environments = {e.package_name: e for e in installed().values()}
    for distribution in distributions():
        try:
            name = distribution.metadata["Name"]
            origin = _origin(distribution)
        except Exception:  # noqa: BLE001  # a broken package was not installed from there
            continue
        if name in environments and origin is not None and _is_from(origin, source):
            return environments[name]
    return None


def _origin(distribution: Distribution) -> dict[str, Any] | None:
    """Where an installer found it, as PEP 610 has it written down."""
    text = distribution.read_text("direct_url.json")
    origin: Any = json.loads(text) if text else None
    return origin if isinstance(origin, dict) else None


def _is_from(origin: dict[str, Any], source: Source) -> bool:
    if _place(str(origin.get("url", ""))) != _place(source.url):
        return False
    revision, vcs = source.revision, origin.get("vcs_info") or {}
    if revision is None:
        return True
    commit = str(vcs.get("commit_id", ""))
    return revision == vcs.get("requested_revision") or (
        len(revision) >= 7 and commit.startswith(revision)
    )


def _place(url: str) -> str:
    """An address without who asks, whom installers don't write down."""
    return re.sub(r"//[^/@]*@", "//", url).rstrip("/")
