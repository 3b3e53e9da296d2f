"""`openenv build`: an environment's container image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def build(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that holds openenv.yaml.")
    ] = Path(),
    tag: Annotated[
        str | None, typer.Option("--tag", "-t", help="The image's name; openenv-NAME by default.")
    ] = None,
    context: Annotated[
        Path | None, typer.Option("--context", "-c", help="What COPY sees; DIR by default.")
    ] = None,
    dockerfile: Annotated[
        Path | None,
        typer.Option("--dockerfile", "-f", help="server/Dockerfile by default, then Dockerfile."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Build every layer anew.")] = False,
    build_arg: Annotated[
        list[str] | None,
        typer.Option("--build-arg", metavar="NAME=VALUE", help="For an ARG of the Dockerfile."),
    ] = None,
    base_image: Annotated[
        str | None, typer.Option(help="The image to build on, for its ARG BASE_IMAGE.")
    ] = None,
    engine: Annotated[
        Literal["docker", "podman"] | None, typer.Option(help="Docker by default, then Podman.")
    ] = None,
    network: Annotated[
        str | None, typer.Option(help="The network of RUN instructions, as host.")
    ] = None,
    openenv: Annotated[
        Literal["this", "index"],
        typer.Option(help="The OpenEnv inside: this version, or what a package index has."),
    ] = "this",
    as_json: Annotated[bool, typer.Option("--json", help="Print the image as JSON.")] = False,
) -> None:
    """Build an environment's container image."""
    from dataclasses import asdict

    from openenv.cli.output import answer, next_steps, say, step
    from openenv.project import build as building

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
    for note in image.notes:
        say(f"Note: {note}")
    answer(
        asdict(image),
        as_json,
        [f"Built {image.name}: {image.size_bytes / 1e6:.0f} MB, in {image.seconds:.1f} s"],
    )
    next_steps(
        f"{image.engine} run --rm --init -p 127.0.0.1:8000:8000 {image.name}",
        f'python -c "from openenv import GenericEnvClient as C; '
        f"print(C.from_docker_image('{image.name}').reset())\"",
    )
