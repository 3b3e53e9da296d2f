"""examples/OpenEnv_Tutorial.ipynb: run as a reader runs it, and what it shows.

`python -m tests.docs.notebook` runs it and writes its outputs anew.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.docs.blocks import ROOT

NOTEBOOK = ROOT / "examples/OpenEnv_Tutorial.ipynb"
CELL_LIMIT_S = 180
_NUMBER = re.compile(r"\d+(\.\d+)?")


def read() -> Any:
    """The notebook as it is committed."""
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]


def executed(folder: Path) -> Any:
    """The notebook as it is after its cells were run in a folder, in a kernel of its own.

    Raises:
        CellExecutionError: a cell raised, or an assertion of it failed.
    """
    notebook = read()
    said = notebook.metadata.copy()
    NotebookClient(
        notebook,
        timeout=CELL_LIMIT_S,
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    notebook.metadata = said  # not which Python ran it
    return notebook


def shown(notebook: Any) -> list[list[str]]:
    """What each cell shows: its texts, without their numbers, or the kinds of what is none."""
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [[_shape(output) for output in cell.outputs] for cell in cells]


def _shape(output: Any) -> str:
    if output.output_type == "stream":
        return f"{output.name}: {_NUMBER.sub('#', output.text)}"
    return " ".join(sorted(output.data)) if "data" in output else str(output.output_type)


def rewrite() -> None:
    """Runs the notebook, and writes it with what it shows."""
    with TemporaryDirectory() as folder:
        notebook = executed(Path(folder))
    nbformat.write(notebook, NOTEBOOK)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    rewrite()
