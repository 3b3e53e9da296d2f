"""Where Inspect writes, and what it leaves behind."""

import gc
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place of its own for each test's logs, traces and settings of Inspect's."""
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Iterator[None]:
    """It puts a log handler of its own on the root logger, which makes every long record costly."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = [each for each in root.handlers if each in handlers]
    root.setLevel(level)


@pytest.fixture(autouse=True, scope="module")
def collected() -> Iterator[None]:
    """It leaves streams to the garbage collector, which would blame a test of another file."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
