"""`openenv push`: an environment becomes a Space of the Hub, or an image in a registry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from openenv.catalog.manifest import MANIFEST, Manifest, read_manifest
from openenv.credentials import find_credentials
from openenv.project import space_files
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.hub import SpaceSettings
from openenv.project.staging import StagedFile, Staging, read_excludes, stage

_REQUIRED = (MANIFEST, "__init__.py", "client.py", "README.md", "pyproject.toml")
_DOCKERFILES = ("server/Dockerfile", "Dockerfile")
_SERVER = ("server/__init__.py", "server/app.py")
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,94}[A-Za-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, kw_only=True)
class PushOptions:
    """What `openenv push` is asked for.

    Attributes:
        directory: the environment's package.
        repo_id: the Space, as `name` or `namespace/name`; by default the manifest's name.
        registry: push an image to this registry instead of a Space, as `registry.example.org/me`.
        base_image: what the Dockerfile is to build on.
        interface: whether the web interface is on; by default on a Space, and not in a registry.
        exclude: a file of globs that are not published.
        delete: globs of files on the Space to delete if this push has none of that name.
        count: make that many Spaces, numbered from 1.
        create_pr: open a pull request on the Space instead of changing it.
        settings: what the Space is given beside its files.
    """

    directory: Path
    repo_id: str | None = None
    registry: str | None = None
    base_image: str | None = None
    interface: bool | None = None
    exclude: Path | None = None
    delete: Sequence[str] = ()
    count: int | None = None
    create_pr: bool = False
    settings: SpaceSettings = field(default_factory=SpaceSettings)

    @property
    def with_interface(self) -> bool:
        """Whether the web interface is on."""
        return self.registry is None if self.interface is None else self.interface

    def check(self) -> None:
        """Refuses options that exclude each other, and values that are none.

        Raises:
            ProjectError: `--count` where there is only one to push to.
            UsageProblem: any other.
        """
        if self.registry is not None:
            _refuse({**self._of_a_space_of_ones_own(), **self._of_a_space()}, "--registry")
        elif self.create_pr:
            _refuse(self._of_a_space_of_ones_own(), "--create-pr")
        if self.repo_id is not None and not is_repo_id(self.repo_id):
            raise UsageProblem(
                f"--repo-id {self.repo_id!r} is no name of a Space; it takes name or "
                "namespace/name, of letters, digits, '-', '_' and '.', 96 at most"
            )
        for option, value in self._of_one_word().items():
            if value is not None and not re.fullmatch(r"\S+", value):
                raise UsageProblem(f"{option} takes one word, got {value!r}")
        check_public(self.settings.variables, "--env-var")

    def _of_one_word(self) -> Mapping[str, str | None]:
        return {"--base-image": self.base_image, "--hardware": self.settings.hardware}

    def _of_a_space_of_ones_own(self) -> Mapping[str, object]:
        return {
            "--count": self.count is not None,
            "--private": self.settings.private,
            "--hardware": self.settings.hardware,
            "--env-var": self.settings.variables,
            "--secret": self.settings.secrets,
        }

    def _of_a_space(self) -> Mapping[str, object]:
        return {
            "--repo-id": self.repo_id,
            "--create-pr": self.create_pr,
            "--delete": self.delete,
        }


@dataclass(frozen=True)
class Publication:
    """An environment that is ready to be published: looked through, and nothing sent yet."""

    manifest: Manifest
    staging: Staging
    settings: SpaceSettings


def prepare(options: PushOptions) -> Publication:
    """What a push would publish.

    Raises:
        UsageProblem: an option is wrong, or the directory is no whole environment.
        ProjectError: its manifest is missing, a file cannot be read or holds a credential.
        ManifestError: its manifest cannot be used.
    """
    options.check()
    if options.directory.is_file():
        raise UsageProblem(
            f"{options.directory} is a file; `openenv eject {options.directory}` makes the package "
            "of it that can be published"
        )
    if not options.directory.is_dir():
        raise UsageProblem(
            f"there is no directory {str(options.directory)!r}; give the one with the {MANIFEST}"
        )
    manifest = read_manifest(options.directory)
    check_public(manifest.variables, f"variables: in {MANIFEST}")
    if not (options.repo_id or options.registry or is_repo_id(manifest.name)):
        raise UsageProblem(f"{manifest.name!r} is no name of a Space; give one with --repo-id")
    excludes = read_excludes(options.exclude) if options.exclude else ()
    staging = _complete(stage(options.directory, excludes), options.directory)
    settings = options.settings
    if options.registry is None and not options.create_pr:
        settings = replace(settings, variables={**manifest.variables, **settings.variables})
    return Publication(manifest, _with_space_files(staging, manifest, options), settings)


def repo_ids(options: PushOptions, manifest: Manifest, account: str) -> list[str]:
    """The Spaces that a push is for; in the account's own namespace if none is named."""
    repo_id = options.repo_id or manifest.name
    if "/" not in repo_id:
        repo_id = f"{account}/{repo_id}"
    if options.count is None:
        return [repo_id]
    return [f"{repo_id}-{number}" for number in range(1, options.count + 1)]


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """The `NAME=VALUE` texts of an option that may be given more than once.

    Raises:
        UsageProblem: one is no such text. The value is not shown: it may be a secret.
    """
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not _VARIABLE.fullmatch(name):
            raise UsageProblem(
                f"{option} takes NAME=VALUE, and a name has letters, digits and '_' alone"
            )
        if not equals:
            raise UsageProblem(f"{option} takes NAME=VALUE, got {name} without a value")
        values[name] = value
    return values


def is_repo_id(text: str) -> bool:
    """Whether a text names a Space, with its namespace or without."""
    parts = text.split("/")
    return len(parts) <= 2 and all(
        _NAME.fullmatch(part) and "--" not in part and ".." not in part for part in parts
    )


def _refuse(options: Mapping[str, object], target: str) -> None:
    """Refuses the first option that is given although the target has no use for it."""
    where = "an image in a registry" if target == "--registry" else "a pull request"
    for option in (option for option, given in options.items() if given):
        kind = ProjectError if option == "--count" else UsageProblem
        raise kind(f"{option} does not go with {target}: {where} has none of that; leave one out")


def check_public(variables: Mapping[str, str], where: str) -> None:
    """Refuses variables that everybody could read and nobody should.

    Raises:
        UsageProblem: a value looks like a credential.
    """
    for name, value in variables.items():
        for finding in find_credentials(value):
            raise UsageProblem(
                f"{where}: {name} looks like {finding.kind}, and everyone can read a Space's "
                f"variables; give it as --secret {name} instead"
            )


def _complete(staging: Staging, directory: Path) -> Staging:
    """The same files, if they are a whole environment's."""
    paths = {file.path for file in staging.files}
    missing = [path for path in _REQUIRED if path not in paths]
    if not paths.intersection(_DOCKERFILES):
        missing.append(_DOCKERFILES[0])
    if _DOCKERFILES[1] not in paths:
        missing += [path for path in _SERVER if path not in paths]
    if missing:
        raise UsageProblem(
            f"{directory} lacks {', '.join(missing)}; `openenv init` and `openenv eject` write "
            "every file that a Space needs"
        )
    return staging


def _with_space_files(staging: Staging, manifest: Manifest, options: PushOptions) -> Staging:
    """The files with the Dockerfile at the root, and a README that makes them a Space."""
    interface = options.with_interface
    source = next(path for path in _DOCKERFILES if staging.find(path))
    recipe = space_files.dockerfile(
        _text(staging, source), base_image=options.base_image, interface=interface
    )
    page = space_files.readme(_text(staging, "README.md"), manifest, interface=interface)
    return staging.replacing(
        StagedFile.of(_DOCKERFILES[1], recipe.encode()),
        StagedFile.of("README.md", page.encode()),
        without=_DOCKERFILES,
    )


def _text(staging: Staging, path: str) -> str:
    file = staging.find(path)
    assert file is not None, path
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProjectError(f"{path} is not UTF-8; save it as UTF-8") from error
