"""Packages on disk, sound but for what a test changes in them."""

from pathlib import Path

MANIFEST = """\
spec_version: 1
name: counted
app: server.app:app
validation:
  reward:
    range: [0.0, 1.0]
    floor_margin: 0.1
  resources:
    cpu: 1.0
    memory_mb: 1024
    disk_mb: 512
    episode_timeout_s: 60.0
  capabilities:
    verifier:
      kind: reward_channel
  types:
    tags: [demo]
"""
PYPROJECT = """\
[project]
name = "openenv-counted"
version = "0.1.0"
dependencies = ["openenv-core>=0.11"]

[project.scripts]
server = "counted.server.app:main"
"""
APP = """\
import random

from openenv import Action, Environment, Observation, State, create_app
from openenv.server.command import serve_command


class Push(Action):
    by: int


class Seen(Observation):
    level: int = 0


class Counted(Environment[Push, Seen, State]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed=None):
        self.level = random.Random(seed).randrange(1_000_000)
        return Seen(level=self.level)

    def step(self, action):
        self.level += action.by
        return Seen(level=self.level, reward=0.5)


app = create_app(Counted)


def main():
    serve_command(app)


if __name__ == "__main__":
    main()
"""


def package(folder: Path, **changed: str | None) -> Path:
    """A package; `None` leaves a file out.

    The keywords are `manifest`, `pyproject`, `app`, `lock`, `dockerfile` and `plan`.
    """
    files = {
        "manifest": ("openenv.yaml", MANIFEST),
        "pyproject": ("pyproject.toml", PYPROJECT),
        "app": ("server/app.py", APP),
        "lock": ("uv.lock", ""),
        "dockerfile": ("server/Dockerfile", "FROM scratch\n"),
        "plan": ("validation/runtime.json", None),
    }
    root = folder / "counted"
    for name, (path, content) in files.items():
        text = changed.get(name, content)
        if text is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
    return root
