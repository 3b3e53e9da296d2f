"""The benchmark runs: a short round of everything but the peer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("picows")
pytest.importorskip("matplotlib")

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench.py"
PNG = b"\x89PNG\r\n"


@pytest.mark.timeout(300)
def test_a_quick_run_measures_everything(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    results = json.loads((tmp_path / "results.json").read_text())["results"]
    served, floors = {"v2", "inline", "thread"}, {"tcp", "picows", "websockets"}
    hosts = {"thread host", "process host", "sandbox host"}
    assert set(results) == served | floors | hosts | {"ours", "in-process"}
    for name in served:
        for metric in ("sessions.1.rate", "idle.open_us", "sync.p50_us", "start.cpu_s"):
            assert results[name][metric][0] > 0
    for name in served | floors:
        assert results[name]["sessions.64.server_us"][0] > 0
    for metric in ("batch.8.per_core", "frame.rate", "message.100000.rate"):
        assert results["v2"][metric][0] > 0
    for metric in ("games.rate", "resume.p99_ms"):
        assert results["v2"][metric][0] > 0
    for size in ("bytes_in", "bytes_out"):  # a floor moves the same bytes as what stands on it
        metric = f"batch.8.{size}"
        assert results["picows"][metric] == results["tcp"][metric] == results["v2"][metric]
    for name in hosts:
        assert results[name]["host.open_p50_ms"][0] > 0
    assert results["sandbox host"]["host.private_mb"][0] > 0
    assert results["in-process"]["blackjack.direct_us"][0] > 0
    assert results["ours"]["import.client.modules"][0] > 0

    _check_report(tmp_path)


def _check_report(tmp_path: Path) -> None:
    report = (tmp_path / "RESULTS.md").read_text()
    assert "`openenv --help`, CPU s" in report
    assert "| v2 |" in report
    for picture in ("throughput.png", "cost.png"):
        assert picture in report
        assert (tmp_path / picture).read_bytes().startswith(PNG)
