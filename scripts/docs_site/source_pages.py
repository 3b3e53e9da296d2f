"""Pages that show code which other pages link to."""

import subprocess

from scripts.docs_site.places import ROOT, page_of

LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".sh": "bash"}
LONGEST_BYTES = 40_000
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"


def source_page(path: str) -> str:
    """The page of a file, or of a folder with all its files.

    Args:
        path: as seen from the repository's root.
    """
    files = [each for each in _files(path) if (ROOT / each).is_file()]
    above = "../" * page_of(path).count("/")
    shown = "\n\n".join(_shown(each, above) for each in files)
    return f"{UNSEARCHED}\n# `{path}`\n\n{shown}\n"


def _files(path: str) -> list[str]:
    """The files in a folder that belong to the repository, or would if they were added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", path]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(set(listed.split("\0")) - {""})


def _shown(path: str, above: str) -> str:
    file = ROOT / path
    heading = f"## `{path}`\n\n"
    if file.suffix == ".md" and not page_of(path).startswith("source/"):
        return f"{heading}{_link(path, above)}"
    size = file.stat().st_size
    if size > LONGEST_BYTES or file.suffix not in LANGUAGES:
        return f"{heading}{size:,} bytes."
    text = file.read_text(encoding="utf-8").rstrip("\n")
    return (
        f"{heading}``````{LANGUAGES[file.suffix]}\n{text}\n``````" if text else f"{heading}Empty."
    )


def _link(path: str, above: str) -> str:
    page = page_of(path)
    known = page.startswith("environments/")
    return f"[Its page]({above}{page})." if known else f"`{path}`"
