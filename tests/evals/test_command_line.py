"""`inspect eval` of a file with a task over a served environment."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed (the extra inspect)")

from inspect_ai.log import list_eval_logs, read_eval_log

from blackjack_env.server.blackjack_environment import BlackJackEnvironment
from openenv.testing.model_server import Call, ModelServer, Received, Reply
from tests.evals.worlds import address
from tests.serving import serving

TASK = """
from inspect_ai import Task, task

from openenv.evals.inspect_task import episodes


@task
def blackjack(base_url: str, seeds: int = 10) -> Task:
    return episodes(base_url, seeds)
"""


def stand(received: Received) -> Reply:
    return Reply(calls=[Call("act", {"move": "stand"})])


@pytest.mark.filterwarnings("ignore")
def test_inspect_eval(tmp_path: Path) -> None:
    (tmp_path / "table.py").write_text(TASK)
    with serving(BlackJackEnvironment) as server, ModelServer(stand) as model:
        command = [
            *(sys.executable, "-m", "inspect_ai", "eval", "table.py@blackjack"),
            *("-T", f"base_url={address(server)}", "-T", "seeds=3", "--log-dir", "logs"),
            *("--model", "openai-api/local/test-model", "--model-base-url", f"{model.url}/v1"),
            *("-M", "api_key=any", "--display", "plain"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.active() == 0
    (listed,) = list_eval_logs(str(tmp_path / "logs"))
    log = read_eval_log(listed)
    assert log.status == "success", log.error
    assert log.eval.task_args["seeds"] == 3
    assert log.samples is not None
    assert [sample.store["Outcome:done"] for sample in log.samples] == [True] * 3
    assert "mean" in done.stdout
