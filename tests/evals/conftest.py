"""Inspect leaves streams and files for the garbage collector, which would blame a later test."""

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place of its own for each test's logs, traces and settings of Inspect's."""
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    yield
    with warnings.catch_warnings(action="ignore"):
        gc.collect()
