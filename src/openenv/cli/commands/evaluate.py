"""`openenv eval`: what policies achieve in an environment, and which is better."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openenv.cli.hub_options import AsJson
from openenv.cli.progress import TensorBoard
from openenv.cli.reset_options import reset_options

if TYPE_CHECKING:
    from openenv.evals.comparing import Comparison, Side
    from openenv.evals.evaluation import Evaluation
    from openenv.rollout.collecting.run import Tracker
    from openenv.rollout.policies.policy import Policy

Env = Annotated[
    str | None,
    typer.Argument(
        metavar="ENV",
        help="What is played: a package's folder or name, or FILE.py. It is served for the run.",
        show_default=False,
    ),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="A server that runs, instead.")]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        help="Who plays: random, scripted:MODULE:NAME, openai:MODEL or openai:MODEL@URL. "
        "Repeatable; random by default.",
    ),
]
NumEpisodes = Annotated[
    int | None,
    typer.Option(
        "--num-episodes",
        "-n",
        min=1,
        help="How many each policy plays (100); with --seeds, how many of each seed (1).",
    ),
]
Seeds = Annotated[
    str | None, typer.Option(help="The seeds, as 0-99 or 1,2,5-7; from 0 on by default.")
]
Sessions = Annotated[int, typer.Option(min=1, help="How many episodes are played at once.")]
MaxSteps = Annotated[int, typer.Option(min=1, help="The most steps of one episode.")]
Options = Annotated[str | None, typer.Option(help="A JSON object that every reset is given.")]
SuccessRule = Annotated[
    str | None,
    typer.Option(
        "--success",
        help="What is a success: FIELD=VALUE, as in result=win, of the last observation, or "
        "reward>=NUMBER. By default it is what the environment calls one.",
    ),
]
Keep = Annotated[
    Path | None,
    typer.Option(help="Keep the trajectories in this folder; a run that was cut off goes on."),
]
Compare = Annotated[
    tuple[str, str] | None,
    typer.Option(
        help="Compare two, seed by seed: policies, or results as FILE.json or FILE.json#POLICY.",
        metavar="A B",
    ),
]
Output = Annotated[Path | None, typer.Option(help="Write the results as JSON to this file, too.")]
Html = Annotated[Path | None, typer.Option(help="Write a page with plots to this file.")]
FailUnder = Annotated[
    float | None,
    typer.Option(help="Exit with 1 if a policy's mean reward is lower, or there is none."),
]


def evaluate(
    env: Env = None,
    base_url: BaseUrl = None,
    policy: Policies = None,
    num_episodes: NumEpisodes = None,
    seeds: Seeds = None,
    sessions: Sessions = 8,
    max_steps: MaxSteps = 1000,
    options: Options = None,
    success: SuccessRule = None,
    keep: Keep = None,
    compare: Compare = None,
    output: Output = None,
    html: Html = None,
    tensorboard: TensorBoard = None,
    fail_under: FailUnder = None,
    as_json: AsJson = False,
) -> None:
    """Have policies play the same seeds, and say what each achieves and how sure that is."""
    from openenv.cli.progress import shown as progress
    from openenv.cli.served_env import served
    from openenv.evals.playing import evaluate as play

    asked: dict[str, Any] = {
        "episodes": num_episodes,
        "seeds": _seeds(seeds),
        "sessions": sessions,
        "max_steps": max_steps,
        "options": reset_options(options, "--options"),
        "success": success,
        "folder": keep,
        "progress": None if as_json else progress,
        "tracker": None if tensorboard is None else partial(_curves, tensorboard),
    }
    _refuse_no_number(fail_under)
    players = _players(policy, compare, is_played=bool(env or base_url))
    evaluation: Evaluation | None = None
    if players:
        with served(env, base_url, sessions) as url, _going_on(keep):
            evaluation = play(url, list(players.values()), **asked)
    comparison, shown = _compared(compare, evaluation, players)
    answered = _document(evaluation, comparison)
    if html is not None:
        from openenv.evals.report import html_report

        _write(html, html_report(shown, comparison))
    if output is not None:
        _write(output, json.dumps(answered, indent=2) + "\n")
    _tell(shown, comparison, answered, as_json)
    _judge(evaluation, fail_under)


def _curves(folder: Path, policy: str) -> Tracker:
    """A policy's curves, in a folder of its own: TensorBoard shows each as a run."""
    from openenv.evals.playing import folder_name
    from openenv.rollout import TensorBoardTracker

    return TensorBoardTracker(folder / folder_name(policy))


@contextmanager
def _going_on(keep: Path | None) -> Iterator[None]:
    """Says of a server that went away how to go on."""
    from openenv.project.errors import ProjectError
    from openenv.protocol.errors import ConnectFailed

    try:
        yield
    except ConnectFailed as error:
        if keep is None:
            raise
        raise ProjectError(
            f"{error}; what was played is in {keep}: run the same command again to go on"
        ) from error


def _seeds(text: str | None) -> list[int] | None:
    """The seeds of `0-99` or `1,2,5-7`."""
    from openenv.evals.playing import MOST_EPISODES
    from openenv.project.errors import UsageProblem

    if text is None:
        return None
    ranges = []
    count = 0
    try:
        for part in text.split(","):
            first, dash, last = part.strip().partition("-")
            ranges.append(range(int(first), int(last if dash else first) + 1))
            count += len(ranges[-1])
    except (ValueError, OverflowError):
        count = 0
    if not 0 < count <= MOST_EPISODES or not all(ranges):
        raise UsageProblem(
            f"--seeds takes up to {MOST_EPISODES} numbers from 0, as in 0-99 or 1,2,5-7; got "
            f"{text!r}"
        )
    return [seed for part in ranges for seed in part]


def _is_saved(side: str) -> bool:
    return side.partition("#")[0].endswith(".json")


def _players(
    policies: list[str] | None, compare: tuple[str, str] | None, *, is_played: bool
) -> dict[str, Policy]:
    """The policies that play, by what they were called on the command line."""
    from openenv.project.errors import UsageProblem
    from openenv.protocol.errors import ConfigurationError
    from openenv.rollout.policies.names import policy_named

    sides = [side for side in compare or () if not _is_saved(side)]
    wanted = list(dict.fromkeys([*(policies or ()), *sides]))
    if not wanted and (is_played or compare is None):
        wanted = ["random"]
    try:
        return {text: policy_named(text) for text in wanted}
    except ConfigurationError as error:
        raise UsageProblem(f"--policy: {error}") from error


def _compared(
    compare: tuple[str, str] | None, evaluation: Evaluation | None, players: dict[str, Policy]
) -> tuple[Comparison | None, Evaluation]:
    """The comparison, and what is shown: what was played, or else the two saved results."""
    from openenv.evals.comparing import compare as compared
    from openenv.evals.comparing import together

    if compare is None:
        return None, _played(evaluation)
    first, second = (_side(text, evaluation, players) for text in compare)
    return compared(first, second), evaluation or together(first, second)


def _played(evaluation: Evaluation | None) -> Evaluation:
    if evaluation is None:
        raise LookupError("nothing was played")
    return evaluation


def _side(text: str, evaluation: Evaluation | None, players: dict[str, Policy]) -> Side:
    from openenv.evals.comparing import Side
    from openenv.evals.evaluation import load_evaluation

    if not _is_saved(text):
        return Side.of(_played(evaluation), players[text].name)
    path, _, policy = text.partition("#")
    return Side.of(load_evaluation(path), policy or None, name=text)


def _document(evaluation: Evaluation | None, comparison: Comparison | None) -> dict[str, Any]:
    """What programs read."""
    compared = {} if comparison is None else {"comparison": comparison.to_dict()}
    return compared if evaluation is None else {**evaluation.to_dict(), **compared}


def _write(path: Path, text: str) -> None:
    from openenv.project.errors import ProjectError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ProjectError(f"{path} cannot be written: {error.strerror}") from error


def _tell(
    evaluation: Evaluation,
    comparison: Comparison | None,
    answered: dict[str, Any],
    as_json: bool,
) -> None:
    from openenv.cli.output import answer, say
    from openenv.evals import tables

    answer(answered, as_json, _lines(evaluation, comparison))
    for line in [*tables.losses(evaluation), *evaluation.warnings()]:
        say(line)
    for line in () if comparison is None else comparison.warnings:
        say(line)


def _lines(evaluation: Evaluation, comparison: Comparison | None) -> Iterator[str]:
    """The results for people."""
    from openenv.cli.output import table
    from openenv.evals import tables

    told = evaluation.environment
    version = f" {told['version']}" if told.get("version") else ""
    seeds = len(set(evaluation.seeds))
    yield f"{told.get('name')}{version}: {len(evaluation.seeds)} episodes each, {seeds} seeds"
    figures = tables.figures(evaluation).split(tables.COUNTS_FROM)  # a terminal is narrow
    for each in (*figures, tables.endings(evaluation)):
        yield ""
        yield from table(each.headers, each.rows)
    if comparison is not None:
        each = tables.difference(comparison)
        yield ""
        yield from table(each.headers, each.rows)
        yield comparison.verdict


def _refuse_no_number(fail_under: float | None) -> None:
    from openenv.project.errors import UsageProblem

    if fail_under is not None and not math.isfinite(fail_under):
        raise UsageProblem(f"--fail-under takes a finite number, got {fail_under}")


def _judge(evaluation: Evaluation | None, fail_under: float | None) -> None:
    """Ends with 1 where a policy is worse than it may be, or played nothing to its end."""
    from openenv.cli.output import Exit, say

    for card in () if evaluation is None else evaluation.policies:
        mean = card.mean_reward
        if card.failed == len(card.outcomes):
            say(f"{card.policy}: every episode failed")
        elif fail_under is not None and (mean is None or mean < fail_under):
            say(f"{card.policy}: the mean reward {mean} is lower than --fail-under {fail_under}")
        else:
            continue
        raise typer.Exit(Exit.FAILED)
