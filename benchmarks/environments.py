"""Measure every environment whose engine is installed: ``python -m benchmarks.environments``.

Written to `environments.json` and `ENVIRONMENTS.md`, of which `make catalog` shows the table in
docs/environments.

    --only NAME ...   some packages        --seconds S   how long each is played, each way (1)
    --no-peer         nothing beside the peer
    --out DIR         where the results go
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.environment_figures import Figures, figures, report, run
from benchmarks.machine import machine
from tests.envs.case import Case, cases

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some packages")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each is played")
    parser.add_argument("--no-peer", action="store_true", help="nothing beside the peer")
    parser.add_argument("--out", type=Path, default=HERE, help="where the results go")
    asked = parser.parse_args(arguments)
    chosen = [case for case in cases() if _is_wanted(case, asked.only)]
    measured: dict[str, Figures] = {}
    for case in chosen:
        print(case.package, file=sys.stderr)
        measured[case.package] = figures(case.to_measure(), asked.seconds)
    compared = [] if asked.no_peer else beside_the_peer(asked.seconds)
    results = {"machine": machine(), "environments": measured, "beside the peer": compared}
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "environments.json").write_text(json.dumps(results, indent=1) + "\n")
    (asked.out / "ENVIRONMENTS.md").write_text(report(results))


def _is_wanted(case: Case, only: Sequence[str] | None) -> bool:
    if only is not None and case.package not in only:
        return False
    if missing := case.missing():
        print(f"{case.package} is left out: {missing}", file=sys.stderr)
    return not missing


def beside_the_peer(seconds: float) -> list[dict[str, float | str]]:
    """What both packages reach with the same environments."""
    script = str(HERE / "peers_of_environments.py")
    compared: list[dict[str, float | str]] = json.loads(run(script, str(seconds)))
    return compared


if __name__ == "__main__":
    main()
