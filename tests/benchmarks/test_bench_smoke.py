"""The benchmark runs: a short round of everything but the peer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench.py"


@pytest.mark.timeout(90)
def test_a_quick_run_measures_everything(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    summary = json.loads((tmp_path / "results.json").read_text())["summary"]
    assert set(summary) == {"inline", "thread", "websockets", "ours"}
    for served in ("inline", "thread"):
        for metric in ("one.rate", "many.server_us", "idle.open_us", "sync.p50_us", "start.cpu_s"):
            assert summary[served][metric]["median"] > 0
    assert summary["ours"]["import.client.modules"]["min"] > 0

    report = (tmp_path / "RESULTS.md").read_text()
    assert "`openenv --help`, CPU s" in report
    assert "| inline |" in report
