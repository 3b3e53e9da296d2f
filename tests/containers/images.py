"""Images that tests build of what is installed beside the tests, so that no index is asked."""

import compileall
import py_compile
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from openenv.providers.engine import Engine

ROOT = Path(__file__).parent.parent.parent
SERVER = "openenv-core"
PACKAGES = """\
ARG BASE_IMAGE=openenv-base
FROM ${BASE_IMAGE}
COPY site /site
COPY app /app
WORKDIR /app
ENV PYTHONPATH=/site:/app
"""
ECHO = f'{PACKAGES}CMD ["python3", "-m", "echo_env.server.app", "--host", "0.0.0.0"]\n'
FAULTY = """\
FROM openenv-base
COPY faulty.py /faulty.py
VOLUME /scratch
CMD ["python3", "/faulty.py"]
"""


@contextmanager
def built(engine: Engine, tag: str, label: str, directory: Path) -> Iterator[str]:
    """The image of a directory's Dockerfile, until the block ends; its tag.

    Containers have the image's label.
    """
    engine.call(
        "build",
        "--quiet",
        "--force-rm",
        f"--label={label}",
        f"--tag={tag}",
        str(directory),
        timeout_s=300,
    )
    try:
        yield tag
    finally:
        engine.call("rmi", "--force", tag)


def write_echo(directory: Path) -> Path:
    """A directory that builds to an image of the echo environment."""
    return write(directory, ECHO, ROOT / "envs" / "echo_env")


def write(directory: Path, dockerfile: str, app: Path) -> Path:
    """A directory that builds to an image of OpenEnv, what it needs, and an application."""
    for name in sorted(_closure(SERVER) - {SERVER}):
        _copy_distribution(name, directory / "site")
    shutil.copytree(ROOT / "src" / "openenv", directory / "site" / "openenv", ignore=_no_caches)
    shutil.copytree(app, directory / "app" / app.name, ignore=_no_caches)
    assert sys.version_info[:2] == (3, 11), "the image's Python is 3.11, so must the tests' be"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(directory, quiet=2, invalidation_mode=mode)  # halves the start
    (directory / "Dockerfile").write_text(dockerfile)
    return directory


def write_faulty(directory: Path) -> Path:
    """A directory that builds to an image of `faulty.py`."""
    shutil.copy(Path(__file__).parent / "faulty.py", directory)
    (directory / "Dockerfile").write_text(FAULTY)
    return directory


def _closure(name: str, found: set[str] | None = None) -> set[str]:
    """A distribution and all that it needs here."""
    found = set() if found is None else found
    if name not in found:
        found.add(name)
        for line in distribution(name).requires or []:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                _closure(need.name, found)
    return found


def _copy_distribution(name: str, site: Path) -> None:
    for file in distribution(name).files or []:
        source = Path(str(file.locate()))
        if file.parts[0] == ".." or file.suffix == ".pyc" or not source.is_file():
            continue  # scripts, and what is compiled anew
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


_no_caches = shutil.ignore_patterns("__pycache__")
