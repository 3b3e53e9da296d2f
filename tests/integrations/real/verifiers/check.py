"""verifiers' own OpenEnv taskset, started by its own command, against our servers.

python tests/integrations/real/verifiers/check.py, where verifiers is installed. Its model is a
`ModelServer` of this machine. It plays a server of actions, one of typed observations, and one of
tools alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from blackjack_env.server.app import app as blackjack
from echo_env.server.app import app as echo
from openenv import Environment, Observation, create_app, tool
from openenv.testing import ModelServer
from openenv.testing.loopback import serving

RESETS = 8
ROLLOUTS = 2
LIMIT_S = 300


class Shelf(Environment):
    """Take a book, then leave."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def take(self, title: str) -> str:
        """Take a book."""
        return title

    @tool
    def leave(self) -> Observation:
        """End the visit."""
        return Observation(reward=1.0, done=True)


def last_told(received: Any) -> dict[str, Any]:
    """What the taskset has told the model last."""
    told: dict[str, Any] = json.loads(received.messages[-1]["content"])
    return told


def echoing(received: Any) -> str:
    return json.dumps({"message": f"{len(received.messages)} messages"})


def standing(received: Any) -> str:
    """The bare value of the one field that the schema requires."""
    (field,) = last_told(received)["action_schema"]["required"]
    return {"move": "stand"}[field]


def shopping(received: Any) -> str:
    shown = [tool["name"] for tool in last_told(received)["action_schema"]["available_tools"]]
    assert sorted(shown) == ["leave", "take"], shown
    turns = sum(message["role"] == "assistant" for message in received.messages)
    call = {"tool_name": "leave"} if turns else {"tool_name": "take", "arguments": {"title": "x"}}
    return json.dumps({"type": "call_tool", "arguments": {}, **call})


def evaluated(url: str, model: str, folder: Path) -> list[dict[str, Any]]:
    """The episodes of a run of its command.

    Raises:
        RuntimeError: the command failed.
    """
    resets = ", ".join(f"{{seed = {seed}}}" for seed in range(RESETS))
    config = folder / "eval.toml"
    config.write_text(
        f"""
        model = "test-model"
        num_rollouts = {ROLLOUTS}
        push = false
        output_dir = "{folder}"
        [env.taskset]
        id = "openenv"
        base_url = "{url}"
        resets = [{resets}]
        [env.player]
        max_turns = 3
        harness = {{id = "null"}}
        runtime = {{type = "subprocess"}}
        [client]
        base_url = "{model}/v1"
        api_key_var = "MODEL_KEY"
        """
    )
    command = Path(sys.executable).with_name("vf-eval")
    done = subprocess.run(
        [command, "@", config, "--clean", "true"],
        env=os.environ | {"MODEL_KEY": "none", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    written = list(folder.glob("*/traces.jsonl"))
    if done.returncode or not written:
        raise RuntimeError(f"{done.stdout}\n{done.stderr}")
    return [json.loads(line) for line in written[0].read_text().splitlines()]


def check(name: str, app: Any, policy: Any, allowed: set[float]) -> None:
    """Plays episodes, and says how they went.

    Args:
        name: what is played.
        app: its server.
        policy: what the model says.
        allowed: the rewards that an episode may have.

    Raises:
        AssertionError: one failed, or a session was left.
    """
    with (
        serving(app) as url,
        ModelServer(policy) as model,
        tempfile.TemporaryDirectory() as folder,
    ):
        episodes = evaluated(url, model.url, Path(folder))
        left = app.state.openenv.active_sessions
    traces = [trace for episode in episodes for trace in episode["traces"]]
    failed = [error for each in (*episodes, *traces) for error in each["errors"]]
    assert not failed, failed[0]
    assert len(traces) == RESETS * ROLLOUTS, len(traces)
    rewards = [trace["rewards"]["openenv_reward"]["score"] for trace in traces]
    assert set(rewards) <= allowed and any(rewards), rewards
    print(f"verifiers {version('verifiers')} {name}: {len(traces)} episodes, rewards {rewards}")
    assert left == 0, f"{left} sessions were left"


if __name__ == "__main__":
    check("echo", echo, echoing, {3.0})
    check("blackjack", blackjack, standing, {-1.0, 0.0, 1.0, 1.5})
    check("tools", create_app(Shelf, env_name="shelf"), shopping, {1.0})
