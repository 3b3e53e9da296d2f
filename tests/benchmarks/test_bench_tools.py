"""The measurement of tools runs: one short round without the peer."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastmcp")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "tools.py"


@pytest.mark.timeout(180)
def test_a_quick_round_has_a_row_for_each_road() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--quick"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ours,")]
    assert len(rows) == 2 * 6
    assert all(" 0 " not in row for row in rows)
