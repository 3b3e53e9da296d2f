"""NeMo Gym's own OpenEnv server, with its own configuration files, over our environments.

python tests/integrations/real/nemo_gym/check.py, where nemo-gym is installed. It holds
environments in its own process and steps them, blocking, on its event loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import resources_servers.openenv
import yaml
from fastapi.testclient import TestClient
from nemo_gym.server_utils import ServerClient
from resources_servers.openenv.app import OpenEnvResourcesServer, OpenEnvResourcesServerConfig

CONFIGS = Path(next(iter(resources_servers.openenv.__path__))) / "configs"
ROLLOUTS = 8
REQUEST: dict[str, Any] = {"responses_create_params": {"input": []}}
RESPONSE = {
    "id": "r",
    "created_at": 0,
    "model": "m",
    "object": "response",
    "output": [],
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
}


def configured(name: str) -> OpenEnvResourcesServer:
    """The server of one of its configuration files."""
    said = yaml.safe_load((CONFIGS / f"openenv_{name}.yaml").read_text())
    found = said[f"openenv_{name}_resources_server"]["resources_servers"]["openenv"]
    config = OpenEnvResourcesServerConfig(host="127.0.0.1", port=0, name=name, **found)
    return OpenEnvResourcesServer(config=config, server_client=MagicMock(spec=ServerClient))


@contextmanager
def rollouts(name: str) -> Iterator[list[TestClient]]:
    """Sessions of one server, each begun."""
    server = configured(name)
    app = server.setup_webserver()
    clients = [TestClient(app) for _ in range(ROLLOUTS)]
    for client in clients:
        assert client.post("/seed_session", json={}).status_code == 200
    assert len(server._sessions) == ROLLOUTS
    yield clients
    assert not server._sessions, "sessions were left"


def reward(client: TestClient) -> float:
    """What the server says that the rollout was worth."""
    answer = client.post("/verify", json=REQUEST | {"response": RESPONSE})
    assert answer.status_code == 200, answer.text
    return float(answer.json()["reward"])


def said(client: TestClient, path: str, **body: Any) -> Any:
    """The answer to a call that must not fail."""
    told = client.post(path, json=body).json()
    assert not told.get("error"), told
    return told


def echo(client: TestClient) -> float:
    assert said(client, "/echo_message", message="hi")["result"]["data"] == "hi"
    told = said(client, "/echo_with_length", message="hello")["result"]["data"]
    assert told == {"message": "hello", "length": 5}
    return reward(client)


def maze(client: TestClient) -> float:
    """Goes one way for as long as it may."""
    for _ in range(20):
        seen = said(client, "/step", action=1)
        if seen["done"]:
            break
    return reward(client)


def coding(client: TestClient) -> float:
    assert said(client, "/step", code="x = 6")["exit_code"] == 0
    assert said(client, "/step", code="print(x * 7)")["stdout"] == "42\n"
    return reward(client)


if __name__ == "__main__":
    for play in (echo, maze, coding):
        with rollouts(play.__name__) as clients, ThreadPoolExecutor(ROLLOUTS) as threads:
            rewards = list(threads.map(play, clients))
        found = version("nemo-gym")
        print(f"nemo_gym {found} {play.__name__}: {len(rewards)} rollouts, rewards {rewards}")
