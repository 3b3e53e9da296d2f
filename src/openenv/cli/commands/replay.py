"""`openenv replay`: whether recorded episodes come about again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openenv.cli.hub_options import AsJson
from openenv.cli.output import Exit, answer, say
from openenv.cli.served_env import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openenv.rollout.trajectories.replaying import Difference
    from openenv.rollout.trajectories.trajectory import Trajectory


def replay(
    trajectories: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A .jsonl or .parquet file of trajectories, or the folder of openenv collect.",
        ),
    ],
    env: Annotated[
        str | None,
        typer.Argument(
            metavar="ENV",
            help="What they are replayed on: a folder, a file or an installed name.",
            show_default=False,
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="A server that runs, instead of ENV.")
    ] = None,
    episode: Annotated[
        list[str] | None, typer.Option(help="Only this episode; can be given several times.")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A path that may differ, as metadata.request_id; can be repeated."),
    ] = None,
    sessions: Annotated[int, typer.Option(min=1, help="How many are replayed at once.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Take recorded actions again; exit with 1 at the first thing that is not the same."""
    wanted = _wanted(trajectories, episode or [])
    with served(env, base_url, sessions) as url:
        replayed, failed, difference = _replayed(wanted, url, sessions, ignore or [])
    _tell(replayed, failed, difference, as_json=as_json)
    if difference is not None:
        raise typer.Exit(Exit.FAILED)


def _wanted(path: Path, names: list[str]) -> Iterator[Trajectory]:
    """The trajectories that were asked for; that there are any is seen at once."""
    from itertools import chain

    from openenv.project.errors import ProjectError
    from openenv.rollout import load_trajectories

    try:
        found = (each for each in load_trajectories(path) if not names or each.episode_id in names)
        first = next(found, None)
    except OSError as error:
        raise ProjectError(f"{path} cannot be read: {error.strerror}") from error
    if first is None:
        what = f"none of the episodes {', '.join(names)}" if names else "no trajectories"
        raise ProjectError(f"{path} has {what}; openenv collect writes some")
    return chain([first], found)


def _replayed(
    wanted: Iterator[Trajectory], url: str, sessions: int, ignore: list[str]
) -> tuple[int, int, Difference | None]:
    """How many were the same, of how many only the beginning could be, and the first difference."""
    from openenv.rollout.policies.environment_spec import environment_spec
    from openenv.rollout.trajectories.replaying import replay_all

    spec = environment_spec(url)
    replayed = failed = 0
    outcomes = replay_all(wanted, url, sessions=sessions, ignore=ignore)
    for trajectory, difference in outcomes:
        if not replayed + failed and trajectory.environment != spec.identity:
            recorded = trajectory.environment
            say(f"note: recorded on {_named(recorded)}, replayed on {_named(spec.identity)}")
        if difference is not None:
            return replayed, failed, difference
        failed += trajectory.end == "error"
        replayed += trajectory.end != "error"
    return replayed, failed, None


def _named(environment: dict[str, Any]) -> str:
    return f"{environment.get('name')} {environment.get('version')}"


def _tell(replayed: int, failed: int, difference: Difference | None, *, as_json: bool) -> None:
    from openenv.rollout.trajectories.plain import to_plain

    lines = [f"{_counted(replayed)} replayed, all the same"]
    if failed:
        lines.append(f"{_counted(failed)} up to the error that had ended it, all the same")
    if difference is not None:
        lines = [str(difference), f"the same before it: {_counted(replayed + failed)}"]
    said = None if difference is None else to_plain(vars(difference))
    answer({"replayed": replayed, "failed": failed, "difference": said}, as_json, lines)


def _counted(episodes: int) -> str:
    return f"{episodes} episode" if episodes == 1 else f"{episodes} episodes"
