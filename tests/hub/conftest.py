"""A Hub, an environment to publish, and the command line that publishes it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session

from openenv.project.hub import Hub
from tests.hub.api import TOKEN, FakeHub
from tests.hub.server import fake_hub

FILES = {
    "openenv.yaml": "name: tiny_env\napp: server.app:app\nport: 8000\n",
    "__init__.py": "",
    "client.py": "# the client\n",
    "models.py": "# the models\n",
    "README.md": "# Tiny\n\nIt is tiny.\n",
    "pyproject.toml": '[project]\nname = "openenv-tiny-env"\nversion = "0.1.0"\n',
    "server/__init__.py": "",
    "server/app.py": "app = None\n",
    "server/Dockerfile": "ARG BASE_IMAGE=python:3.11-slim\nFROM ${BASE_IMAGE}\nCOPY . .\n"
    'HEALTHCHECK --interval=30s \\\n    CMD true\nCMD ["server"]\n',
}
PUBLISHED = {path for path in FILES if path != "server/Dockerfile"} | {"Dockerfile"}

Openenv = Callable[..., "subprocess.CompletedProcess[str]"]


def write(root: Path, files: dict[str, str]) -> Path:
    """Writes files below a directory."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def served_hub() -> Iterator[FakeHub]:
    with fake_hub() as hub:
        yield hub
        close_session()


@pytest.fixture
def hub(served_hub: FakeHub) -> Hub:
    """The client side, logged in."""
    return Hub(served_hub.url, TOKEN, pause_s=0.01)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An environment that could be published."""
    return write(tmp_path / "tiny_env", FILES)


@pytest.fixture
def openenv(served_hub: FakeHub, tmp_path: Path) -> Openenv:
    """Runs the command in a process of its own, which alone knows the token."""
    home = tmp_path / "home"
    home.mkdir()

    def run(
        *arguments: str, token: str | None = TOKEN, typed: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        environ = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environ |= {
            "HOME": str(home),
            "HF_HOME": str(home / "hf"),
            "HF_ENDPOINT": served_hub.url,
            "HF_HUB_DISABLE_XET": "1",
            **({"HF_TOKEN": token} if token is not None else {}),
        }
        return subprocess.run(
            [sys.executable, "-m", "openenv.cli", *arguments],
            env=environ,
            cwd=tmp_path,
            input=typed,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run
