"""The tutorial's notebook runs from top to bottom, and shows what its committed outputs show."""

from pathlib import Path

import pytest

pytest.importorskip("nbclient")

from tests.docs.notebook import executed, read, shown


@pytest.mark.timeout(300)
def test_the_notebook_runs_and_shows_what_it_showed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    anew = "the outputs are out of date; `python -m tests.docs.notebook` writes them anew"
    assert shown(executed(tmp_path)) == shown(read()), anew
