"""`openenv build`: an environment's container image."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from openenv.catalog.manifest import Manifest, read_manifest
from openenv.project.context import BuildContext, find_dockerfile, prepare
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.termination import unwinding
from openenv.providers.command import Completed
from openenv.providers.engine import Engine, EngineName

BUILD_S = 3600.0
_TOLD_LINES = 30
_NOISE = re.compile(
    r"DEPRECATED: The legacy|\s+Install the buildx|\s+https://docs\.docker\.com|\s*$"
)
_COLOR = re.compile(r"\x1b\[[\d;]*m")
_UNREACHABLE = re.compile(
    r"Temporary failure in name resolution|Could not resolve|dns error|NewConnectionError"
    r"|network is unreachable|failed to lookup|Failed to fetch: `https?:",
    re.IGNORECASE,
)
_NO_BASE = re.compile(
    r"pull access denied|manifest unknown|failed to resolve source metadata|error pulling image"
    r"|Get \"?https?://\S+/v2/",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """What `openenv build` is asked for.

    Attributes:
        directory: the environment's folder, which holds its openenv.yaml.
        tag: the image's name; by default `openenv-` and the folder's name without `_env`.
        context: the folder that the Dockerfile's COPY instructions see; the environment's own by
            default.
        dockerfile: by default `server/Dockerfile`, else `Dockerfile`.
        no_cache: build every layer anew.
        build_args: values for the Dockerfile's ARG instructions.
        base_image: for its `ARG BASE_IMAGE`.
        engine: `"docker"` or `"podman"`; by default Docker, or Podman where there is no Docker.
        network: the network of its RUN instructions, as `host`.
        own: whether this version of OpenEnv goes into the image; otherwise what the project asks
            of a package index.
    """

    directory: Path
    tag: str | None = None
    context: Path | None = None
    dockerfile: Path | None = None
    no_cache: bool = False
    build_args: Mapping[str, str] = field(default_factory=dict)
    base_image: str | None = None
    engine: EngineName | None = None
    network: str | None = None
    own: bool = True


@dataclass(frozen=True)
class BuiltImage:
    """An image that was built.

    Attributes:
        name: what it is called.
        id: the engine's own name of it.
        size_bytes: what it takes on disk.
        seconds: how long it took.
        engine: whose it is.
        notes: what differs from the project in ways that may surprise.
    """

    name: str
    id: str
    size_bytes: int
    seconds: float
    engine: str
    notes: tuple[str, ...]


def build(options: BuildOptions) -> BuiltImage:
    """Builds an environment's image.

    Raises:
        UsageProblem: an option names something that is not there.
        ProjectError: there is no Dockerfile, or the build failed; the text ends with its log.
        ManifestError: openenv.yaml or pyproject.toml is missing or wrong.
        NotAvailable: no container engine answers.
    """
    began = time.monotonic()
    project = options.directory.resolve()
    manifest = read_manifest(project)
    found = find_dockerfile(project, options.dockerfile)
    source = (options.context or project).resolve()
    if not source.is_dir():
        raise UsageProblem(f"there is no folder {str(options.context)!r} for --context")
    tag = options.tag or default_tag(project)
    engine = Engine(options.engine)
    with unwinding(), tempfile.TemporaryDirectory(prefix="openenv-build-") as folder:
        context = prepare(
            source, found, Path(folder), own=options.own, cache_mounts=_has_cache_mounts(engine)
        )
        _run(engine, _arguments(options, manifest, tag, context), tag)
    image = engine.inspect("image", tag)
    if image is None:
        raise ProjectError(f"{engine.name} built {tag}, and does not find it; was it removed?")
    seconds = time.monotonic() - began
    return BuiltImage(tag, image["Id"], image["Size"], seconds, engine.name, context.notes)


def default_tag(project: Path) -> str:
    """What an environment's image is called when nobody says: `openenv-echo` of `echo_env`."""
    stem = project.name.removesuffix("_env") or project.name
    words = re.sub(r"(?!\.[a-z0-9])[^a-z0-9]+", "-", stem.lower()).strip("-.")
    return f"openenv-{words or 'environment'}"


def parse_build_args(pairs: Sequence[str]) -> dict[str, str]:
    """`NAME=value` pairs.

    Raises:
        UsageProblem: one is no such pair.
    """
    for pair in pairs:
        if not re.match(r"[A-Za-z_]\w*=", pair):
            raise UsageProblem(f"--build-arg takes NAME=VALUE, got {pair!r}")
    return dict(pair.split("=", 1) for pair in pairs)


def _arguments(
    options: BuildOptions, manifest: Manifest, tag: str, context: BuildContext
) -> Iterator[str]:
    yield from ("build", "--force-rm", "--tag", tag, "--file", str(context.dockerfile))
    if options.no_cache:
        yield "--no-cache"
    if options.network:
        yield from ("--network", options.network)
    usual = {"BUILD_MODE": "standalone", "ENV_NAME": manifest.name}
    values = {name: value for name, value in usual.items() if name in context.arguments}
    if options.base_image:
        if "BASE_IMAGE" not in context.arguments:
            raise UsageProblem(
                "--base-image needs a Dockerfile with ARG BASE_IMAGE before its FROM"
            )
        values["BASE_IMAGE"] = options.base_image
    for name, value in (values | dict(options.build_args)).items():
        yield from ("--build-arg", f"{name}={value}")
    yield str(context.directory)


def _has_cache_mounts(engine: Engine) -> bool:
    """Whether it is more than Docker's older builder, which is all there is without buildx."""
    return engine.name != "docker" or engine.call("buildx", "version", check=False).code == 0


def _run(engine: Engine, arguments: Iterator[str], tag: str) -> None:
    ended = engine.call(*arguments, timeout_s=BUILD_S, check=False)
    if ended.code == 0:
        return
    engine.ping()
    log = _log(ended)
    advice = ""
    if _NO_BASE.search(log):
        advice = "\nThe base image cannot be had; name another one with --base-image."
    elif _UNREACHABLE.search(log):
        advice = "\nThe build has no way to a package index; try --network host."
    raise ProjectError(f"{engine.name} could not build {tag}:\n{log}{advice}")


def _log(ended: Completed) -> str:
    """The last lines of a build's output."""
    lines = _COLOR.sub("", f"{ended.stdout}\n{ended.stderr}").splitlines()
    return "\n".join([line for line in lines if not _NOISE.match(line)][-_TOLD_LINES:])
