"""Where Inspect writes, and what it leaves behind."""

import gc
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
def collected() -> Iterator[None]:
    """It leaves streams to the garbage collector, which would blame a test of another file."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
