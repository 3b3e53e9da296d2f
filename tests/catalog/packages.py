"""Packages as installers leave them, and repositories that they are installed from."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

CLIENT = """
from openenv import Action, EnvClient, Observation, State

class {prefix}Action(Action):
    text: str

class {prefix}Observation(Observation):
    text: str = ""

class {prefix}Env(EnvClient[{prefix}Action, {prefix}Observation, State]):
    "Its client."
"""
BACKEND = """
import pathlib, zipfile

NAME = "openenv_tiny_env-0.1.0"

def build_wheel(directory, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(pathlib.Path(directory, f"{NAME}-py3-none-any.whl"), "w") as wheel:
        for path in pathlib.Path("tiny_env").iterdir():
            if path.is_file():
                wheel.write(path, path.as_posix())
        wheel.writestr(f"{NAME}.dist-info/METADATA",
            "Metadata-Version: 2.1\\nName: openenv-tiny-env\\nVersion: 0.1.0\\n")
        wheel.writestr(f"{NAME}.dist-info/WHEEL",
            "Wheel-Version: 1.0\\nGenerator: tiny\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{NAME}.dist-info/RECORD", "")
    return f"{NAME}-py3-none-any.whl"
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "openenv-tiny-env"
version = "0.1.0"
"""


def install(
    site: Path,
    distribution: str,
    package: str,
    *,
    prefix: str = "",
    files: Mapping[str, str] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Path:
    """Puts a distribution and its package into a directory, as an installer does; the package's.

    Args:
        site: where packages lie.
        distribution: its name.
        package: its package's, empty for none.
        prefix: of the classes of its `client.py`; without one there is no such file.
        files: of the package, besides.
        metadata: files of the distribution, besides.
    """
    described = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    described.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\nSummary: A world\n"
    for name, content in {"METADATA": text, **(metadata or {})}.items():
        (described / name).write_text(content)
    directory = site / package
    if package:
        directory.mkdir(parents=True)
        written = {"__init__.py": "", **(files or {})}
        if prefix:
            written["client.py"] = CLIENT.format(prefix=prefix)
        for name, content in written.items():
            (directory / name).write_text(content)
    return directory


class Repository:
    """A git repository of a package that is built without any other, with revisions `v1`, `v2`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.url = f"git+{directory.as_uri()}"
        package = directory / "tiny_env"
        package.mkdir(parents=True)
        (directory / "backend.py").write_text(BACKEND)
        (directory / "pyproject.toml").write_text(PYPROJECT)
        (package / "client.py").write_text(CLIENT.format(prefix="Tiny"))
        self.git("init", "-q", "-b", "main")
        for revision in ("v1", "v2"):
            (package / "__init__.py").write_text(f"REVISION = {revision!r}\n")
            self.git("add", "-A")
            self.git("commit", "-q", "-m", revision)
            self.git("tag", revision)

    def commit(self, revision: str) -> str:
        return self.git("rev-parse", revision).strip()

    def git(self, *args: str) -> str:
        identity = ("-c", "user.name=tester", "-c", "user.email=tester@localhost")
        command = ["git", "-C", str(self.directory), *identity, *args]
        run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)
        return run.stdout
