"""Environments under both names: `echo_env`, and `envs.echo_env` as a checkout spells it."""

import importlib
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from openenv import GenericEnvClient
from openenv.client.fetching import is_available

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(path.parent.name for path in ROOT.glob("envs/*/openenv.yaml"))
DEADLINE_S = 60


@pytest.mark.parametrize("package", PACKAGES)
def test_both_names_are_one_package(package: str) -> None:
    for inner in ("", ".client", ".models"):
        module = importlib.import_module(f"envs.{package}{inner}")
        assert module is importlib.import_module(f"{package}{inner}")
        assert module.__spec__ is not None
        assert module.__name__ == module.__spec__.name == f"{package}{inner}"


def test_a_class_is_itself_under_both_names() -> None:
    theirs = importlib.import_module("envs.echo_env.models").EchoAction
    ours = importlib.import_module("echo_env").EchoAction
    assert theirs is ours
    assert isinstance(pickle.loads(pickle.dumps(theirs(message="hi"))), ours)
    app = importlib.import_module("envs.echo_env.server.app")
    assert app.app is importlib.import_module("echo_env.server.app").app


def test_a_missing_environment_says_what_to_install() -> None:
    with pytest.raises(
        ModuleNotFoundError, match=r"'lamp_env'.*pip install openenv-lamp-env.*echo_env"
    ) as caught:
        importlib.import_module("envs.lamp_env")
    assert caught.value.name == "envs.lamp_env"
    with pytest.raises(ModuleNotFoundError, match=r"echo_env\.lamp"):
        importlib.import_module("envs.echo_env.lamp")
    with pytest.raises(ImportError, match="lamp_env"):
        exec("from envs import lamp_env")


# ── a checkout that is not installed ──────────────────────────────────────────────────────────────

APP = """
import sys

from lamp_env.models import Lamp, LampAction, LampObservation
from openenv import create_app

app = create_app(Lamp, LampAction, LampObservation, env_name="lamp_env")

if __name__ == "__main__":
    print("served as", __spec__.name, sys.argv[0].endswith("app.py"))
"""
MODELS = """
from openenv import Action, Environment, Observation


class LampAction(Action):
    on: bool


class LampObservation(Observation):
    on: bool = False


class Lamp(Environment[LampAction, LampObservation]):
    def reset(self, **options):
        return LampObservation()

    def step(self, action):
        return LampObservation(on=action.on, reward=float(action.on))
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with an environment that is installed nowhere, and code of somebody's own."""
    files = {
        "lamp_env/__init__.py": "from .models import LampAction",
        "lamp_env/models.py": MODELS,
        "lamp_env/openenv.yaml": "name: lamp_env",
        "lamp_env/server/__init__.py": "",
        "lamp_env/server/app.py": APP,
        "tasks/__init__.py": "from . import client",
        "tasks/client.py": "from ..words import WORD",
        "words.py": "WORD = 'own'",
    }
    for name, text in files.items():
        path = tmp_path / "envs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def run(*command: str, at: Path, path: str = "") -> str:
    """What an interpreter of its own prints."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=at,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_checkout_on_the_path_brings_its_environments(checkout: Path, tmp_path: Path) -> None:
    code = """if True:
        from envs.lamp_env import LampAction
        import envs.lamp_env.server.app, lamp_env.models, pickle
        assert LampAction is lamp_env.models.LampAction
        from envs import lamp_env, echo_env
        print(lamp_env.__name__, echo_env.__name__)
    """
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run("-c", code, at=elsewhere, path=str(checkout)).split() == ["lamp_env", "echo_env"]
    assert run("-c", code, at=checkout).split() == ["lamp_env", "echo_env"]


def test_threads_may_import_it_at_once(checkout: Path) -> None:
    code = """if True:
        import envs, importlib, sys
        from concurrent.futures import ThreadPoolExecutor
        names = ["envs.lamp_env.server.app", "lamp_env.server.app", "envs.lamp_env", "lamp_env"]
        sys.path.append("envs")
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(importlib.import_module, names * 2))
        assert found[0] is found[1] is found[4] is found[5]
        print(found[2] is found[3] is found[6] is found[7])
    """
    assert run("-c", code, at=checkout) == "True\n"


def test_what_is_no_environment_is_imported_as_ever(checkout: Path) -> None:
    code = """if True:
        import envs.words, envs.tasks.client
        assert envs.tasks.client.WORD is envs.words.WORD
        print(envs.tasks.client.__name__)
    """
    assert run("-c", code, at=checkout) == "envs.tasks.client\n"


def test_a_module_of_it_can_be_run(checkout: Path) -> None:
    printed = run("-m", "envs.lamp_env.server.app", at=checkout)
    assert printed == "served as envs.lamp_env.server.app True\n"


def test_a_trainer_launches_it_with_uvicorn(checkout: Path) -> None:
    command = [sys.executable, "-m", "uvicorn", "envs.lamp_env.server.app:app"]
    server: subprocess.Popen[str] = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", "0"],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": f"{checkout}:{checkout / 'src'}"},
        stderr=subprocess.PIPE,
        text=True,
    )
    with server:
        try:
            assert server.stderr is not None
            told = (re.search(r"running on (\S+)", line) for line in server.stderr)
            found = next((match for match in told if match), None)
            assert found is not None, "it ended before it ran"
            play(found[1])
        finally:
            server.kill()


def play(url: str) -> None:
    assert is_available(url)
    with GenericEnvClient(base_url=url) as env:
        env.reset()
        result: Any = env.step({"on": True})
        assert (result.observation["on"], result.reward) == (True, 1.0)
