"""Pages that show code and notebooks which other pages link to."""

import json
import subprocess

from scripts.docs_site.places import ROOT, turned

LANGUAGES = {
    ".py": "python",
    ".sh": "bash",
    ".toml": "toml",
    ".txt": "text",
    ".yaml": "yaml",
    "Dockerfile": "docker",
}
LONGEST_BYTES = 40_000
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"


def source_page(path: str) -> str:
    """The page of a file, or of a folder with its files.

    Args:
        path: as seen from the repository's root.
    """
    files = [each for each in _files(path) if (ROOT / each).stat().st_size]
    shown = [each for each in files if _language(each)]
    parts = [f"{UNSEARCHED}\n# `{path}`", *(_shown(each, path) for each in shown)]
    if others := [f"`{_named(each, path)}`" for each in files if each not in shown]:
        parts.append(f"## Not shown\n\n{', '.join(others)}")
    return "\n\n".join(parts) + "\n"


def notebook_page(path: str) -> str:
    """The page of a notebook: its texts and its code; what it prints comes when it is run.

    Args:
        path: as seen from the repository's root.
    """
    cells = json.loads((ROOT / path).read_text(encoding="utf-8"))["cells"]
    told = f"This is the notebook `{path}`, to be read."
    shown = [_cell(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return turned("\n\n".join([shown[0], told, *shown[1:]]) + "\n", path)


def _cell(kind: str, text: str) -> str:
    return f"```python\n{text}\n```" if kind == "code" else text


def _files(path: str) -> list[str]:
    """The files in a folder that belong to the repository, or would if they were added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", path]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(each for each in set(listed.split("\0")) if (ROOT / each).is_file())


def _language(path: str) -> str | None:
    file = ROOT / path
    short = file.stat().st_size <= LONGEST_BYTES
    return LANGUAGES.get(file.suffix or file.name) if short else None


def _named(path: str, folder: str) -> str:
    """A file's name as seen from the folder that is shown."""
    return path.removeprefix(f"{folder}/")


def _shown(path: str, folder: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8").rstrip("\n")
    return f"## `{_named(path, folder)}`\n\n``````{_language(path)}\n{text}\n``````"
