"""`openenv export`: trajectories as rows of a data set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from openenv.cli.hub_options import AsJson

if TYPE_CHECKING:
    from openenv.rollout.trajectories.trajectory import Trajectory

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Trajectories: .jsonl, .parquet, or a folder of them."),
]
Kind = Annotated[
    Literal["sft", "preference", "grpo"],
    typer.Option(
        "--to",
        help="Conversations, pairs of a better and a worse episode, or groups with advantages.",
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The file of JSON lines to write.")]
MinReward = Annotated[
    float | None, typer.Option(help="Of sft: leave out episodes with a lower reward.")
]
Margin = Annotated[
    float | None, typer.Option(help="Of preference: the rewards differ by more than this (0).")
]


def export(
    trajectories: Files,
    output: Output,
    to: Kind = "sft",
    min_reward: MinReward = None,
    margin: Margin = None,
    as_json: AsJson = False,
) -> None:
    """Write trajectories as rows for supervised, preference or group-relative training."""
    from openenv.cli.output import answer, say
    from openenv.project.errors import UsageProblem
    from openenv.rollout.trajectories.store import file_of, load_trajectories

    if (min_reward is not None and to != "sft") or (margin is not None and to != "preference"):
        raise UsageProblem("--min-reward goes with --to sft, and --margin with --to preference")
    if any(file_of(path).resolve() == output.resolve() for path in trajectories):
        raise UsageProblem(f"{output} holds the trajectories; give another --output")
    found = chain.from_iterable(load_trajectories(path) for path in trajectories)
    count = _Count()
    _write(count.seen(_rows(found, to, min_reward, margin or 0.0)), output)
    answered = {"rows": count.rows, "kind": to, "output": str(output)}
    answer(answered, as_json, [f"{count.rows} rows written to {output}"])
    if not count.rows:
        say("no episode fits: those without a reward are in no row, and pairs need the same seed")
    elif not count.of_use:
        say(
            "no group has two rewards, so none has advantages: play each seed several times, by a "
            "policy that varies, as collect(…, seeds=[0, 0, 0, 0, 1, 1, 1, 1]) in Python does"
        )


def _rows(
    found: Iterable[Trajectory], to: str, min_reward: float | None, margin: float
) -> Iterator[dict[str, Any]]:
    from openenv.rollout.trajectories import export as rows

    if to == "sft":
        return rows.sft_rows(found, min_reward=min_reward)
    if to == "preference":
        return rows.preference_rows(found, margin=margin)
    return rows.grpo_groups(found)


class _Count:
    """Counts rows, and those that say something: groups without advantages do not."""

    rows = 0
    of_use = 0

    def seen(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row in rows:
            self.rows += 1
            self.of_use += any(row.get("mask", [True]))
            yield row


def _write(rows: Iterable[dict[str, Any]], output: Path) -> None:
    """Writes a line for each row, and puts the file into place at the end."""
    from openenv.project.errors import ProjectError

    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".rows-", dir=output.parent) as folder:
            written = Path(folder, output.name)
            with written.open("w", encoding="utf-8") as file:
                for row in rows:
                    file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
            written.replace(output)
    except OSError as error:
        raise ProjectError(f"{error.filename or output}: {error.strerror}") from error
