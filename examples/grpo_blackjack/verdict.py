"""Trains with several seeds, and once without the cards; says whether all went as they must.

python examples/grpo_blackjack/verdict.py                     a few minutes
python examples/grpo_blackjack/verdict.py --seeds 4 5 steps=144
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from grpo_blackjack.marks import marks_of

TRAIN = Path(__file__).with_name("train.py")


def parse() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--output", type=Path, default=Path("runs/blackjack"))
    parser.add_argument("overrides", nargs="*", metavar="key=value")
    return parser.parse_intermixed_args()


def train(folder: Path, arguments: list[str]) -> dict[str, Any]:
    """One run, in a process of its own; returns its summary."""
    command = [sys.executable, str(TRAIN), "--output", str(folder), *arguments]
    summary = folder / "summary.json"
    summary.unlink(missing_ok=True)
    code = subprocess.run(command, check=False).returncode
    if not summary.exists():
        sys.exit(f"verdict.py: {' '.join(command)} ended with {code}, and with no summary")
    figures: dict[str, Any] = json.loads(summary.read_text())
    return figures


def table_of(runs: dict[str, dict[str, Any]]) -> Table:
    """All figures side by side."""
    table = Table("run", "start", "12,288", "end", "greedy", "wins", "played", "s", box=SIMPLE)
    for name, run in runs.items():
        evs = (run["start_ev"], run["middle_ev"], run["end_ev"], run["greedy_ev"])
        played = f"{run['played']['mean']:+.3f} ± {run['played']['margin']:.3f}"
        cells = ["" if ev is None else f"{ev:+.3f}" for ev in evs]
        table.add_row(name, *cells, f"{run['win_rate']:.1%}", played, f"{run['seconds']:.0f}")
    return table


def main() -> None:
    """Trains and judges."""
    given = parse()
    console = Console()
    kinds = {f"seed {seed}": ["--seed", str(seed)] for seed in given.seeds}
    kinds["blind"] = ["--blind", "--seed", str(given.seeds[0])]
    runs: dict[str, dict[str, Any]] = {}
    for name, options in kinds.items():
        console.rule(name)
        runs[name] = train(given.output / name.replace(" ", "-"), [*options, *given.overrides])
    console.print(table_of(runs))
    missed = [
        f"{name}: {mark.text}"
        for name, run in runs.items()
        for mark in marks_of(run)
        if not mark.passed
    ]
    sys.exit("missed: " + "; ".join(missed) if missed else 0)


if __name__ == "__main__":
    main()
