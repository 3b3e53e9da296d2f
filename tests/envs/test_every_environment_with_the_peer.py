"""The peer's own client, as it is published, plays every environment."""

import json
import subprocess

import pytest

from tests.envs.case import Case, Json
from tests.envs.playing import outcome, player, turns
from tests.interop.serving import PEER, PEER_VENV, environment
from tests.serving import Served

STEPS = 8
PROGRAM = """
import json, sys
from openenv import GenericEnvClient

plan = json.load(sys.stdin)
with GenericEnvClient(base_url=plan["url"]).sync() as env:
    results = [env.reset(**plan["reset"]), *map(env.step, plan["actions"])]
    state = env.state()
print(json.dumps([[r.observation, r.reward, r.done] for r in results] + [state]))
"""


@pytest.mark.interop
@pytest.mark.timeout(90)
@pytest.mark.skipif(not (PEER_VENV / ".ready-peer").exists(), reason="run scripts/venv peer")
def test_the_peer_s_client_sees_the_same_episode(case: Case, served: Served) -> None:
    with player(case) as client:
        played = list(turns(client, case, 1, STEPS))
        state = client.state()
    plan = {
        "url": f"http://127.0.0.1:{served.port}",
        "reset": {**case.reset, "seed": 1},
        "actions": [action for action, _ in played[1:]],
    }
    run = subprocess.run(
        [PEER, "-c", PROGRAM],
        input=json.dumps(plan),
        env=environment(PEER),
        capture_output=True,
        text=True,
        timeout=80,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    *results, far = json.loads(run.stdout)
    assert list(map(_outcome, results)) == [_known(seen) for _, seen in played]
    assert far["step_count"] == state["step_count"]


def _outcome(result: list[object]) -> Json:
    observation, reward, done = result
    assert isinstance(observation, dict)
    return outcome({**observation, "reward": reward, "done": done})


def _known(observation: Json) -> Json:
    """What the peer knows of an observation: it has no truncated episodes."""
    return {name: value for name, value in outcome(observation).items() if name != "truncated"}
