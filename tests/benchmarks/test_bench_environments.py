"""The figures of environments: a short run of the two smallest."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(120)
def test_a_short_run_measures_environments_in_every_way(tmp_path: Path) -> None:
    arguments = ["--only", "echo_env", "blackjack_env", "--seconds", "0.02", "--no-peer"]
    command = [sys.executable, "-m", "benchmarks.environments", *arguments, "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    results = json.loads((tmp_path / "environments.json").read_text())
    assert results["environments"].keys() == {"echo_env", "blackjack_env"}
    for found in results["environments"].values():
        assert found["determinism"] == "exact"
        assert min(found[name] for name in ("in_process", "wire", "pool", "reset_p50_us")) > 0
    report = (tmp_path / "ENVIRONMENTS.md").read_text()
    assert "| blackjack | " in report
    assert "| echo | " in report
