"""`openenv build`: an environment's container image."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from openenv.project.build import BuiltImage

Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder that holds openenv.yaml.")
]
Tag = Annotated[
    str | None, typer.Option("--tag", "-t", help="The image's name; openenv-NAME by default.")
]
Context = Annotated[
    Path | None, typer.Option("--context", "-c", help="What COPY sees; DIR by default.")
]
Dockerfile = Annotated[
    Path | None,
    typer.Option("--dockerfile", "-f", help="server/Dockerfile by default, then Dockerfile."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Build every layer anew.")]
BuildArg = Annotated[
    list[str] | None,
    typer.Option("--build-arg", metavar="NAME=VALUE", help="For an ARG of the Dockerfile."),
]
BaseImage = Annotated[
    str | None, typer.Option(help="The image to build on, for its ARG BASE_IMAGE.")
]
EngineOption = Annotated[
    Literal["docker", "podman"] | None, typer.Option(help="Docker by default, then Podman.")
]
Network = Annotated[str | None, typer.Option(help="The network of RUN instructions, as host.")]
OpenEnv = Annotated[
    Literal["this", "index"],
    typer.Option(help="The OpenEnv inside: this version, or what a package index has."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the image as JSON.")]


def build(
    directory: Directory = Path(),
    tag: Tag = None,
    context: Context = None,
    dockerfile: Dockerfile = None,
    no_cache: NoCache = False,
    build_arg: BuildArg = None,
    base_image: BaseImage = None,
    engine: EngineOption = None,
    network: Network = None,
    openenv: OpenEnv = "this",
    as_json: AsJson = False,
) -> None:
    """Build an environment's container image."""
    from openenv.catalog.manifest import read_manifest
    from openenv.cli.output import step
    from openenv.project import build as building

    read_manifest(directory.resolve())  # before anything is said to begin

    options = building.BuildOptions(
        directory=directory,
        tag=tag,
        context=context,
        dockerfile=dockerfile,
        no_cache=no_cache,
        build_args=building.parse_build_args(build_arg or ()),
        base_image=base_image,
        engine=engine,
        network=network,
        own=openenv == "this",
    )
    with step(f"building {tag or building.default_tag(directory.resolve())}"):
        image = building.build(options)
    _tell(image, as_json)


def _tell(image: BuiltImage, as_json: bool) -> None:
    from openenv.cli.output import answer, next_steps, say

    for note in image.notes:
        say(f"Note: {note}")
    size = f"{image.size_bytes / 1e6:.0f} MB"
    answer(asdict(image), as_json, [f"Built {image.name}: {size}, in {image.seconds:.1f} s"])
    next_steps(
        f"{image.engine} run --rm --init -p 127.0.0.1:8000:8000 {image.name}",
        f'python -c "from openenv import GenericEnvClient as C; '
        f"print(C.from_docker_image('{image.name}').reset())\"",
    )
