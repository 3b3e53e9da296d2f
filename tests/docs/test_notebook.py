"""The tutorial's notebook runs from top to bottom, and shows what its committed outputs show."""

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT
from tests.docs.notebook import executed, read, shown
from tests.docs.reader import shown_file

CHAPTER = ROOT / "docs/tutorial/2-build.md"


@pytest.mark.timeout(300)
def test_the_notebook_runs_and_shows_what_it_showed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    anew = "the outputs are out of date; `python -m tests.docs.notebook` writes them anew"
    assert shown(executed(tmp_path)) == shown(read()), anew


def test_its_game_is_that_of_the_chapter() -> None:
    cells = [cell.source for cell in read().cells]
    game = shown_file(CHAPTER, "dive.py").strip()
    assert f"%%writefile dive.py\n{game}" in cells
