"""Writes what the site is built from: docs, the reference, and what the pages link to elsewhere.

python -m scripts.docs_site.prepare FOLDER makes FOLDER/pages and FOLDER/mkdocs.yml; the generator
needs no plugin of ours, so that another one can take its place.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from scripts.docs_site import reference
from scripts.docs_site.places import ROOT, page_of, targets, turned
from scripts.docs_site.source_pages import notebook_page, source_page

SETTINGS = ROOT / "mkdocs.yml"
THEME = ROOT / "scripts/docs_site/theme"
ICON = "web/src/icon.svg"
ABOVE = ("/index.md", "/README.md")


class Faulty(Exception):
    """The site would lack something; the text says what."""


def prepare(folder: Path) -> None:
    """Writes the pages and the settings of the site.

    Args:
        folder: where to; what is in it is replaced.

    Raises:
        Faulty: a page is in no navigation, or a name of the reference has no docstring.
    """
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    settings = yaml.load(SETTINGS.read_text(encoding="utf-8"), _Settings)
    for page, text in reference.pages():
        _write(pages / page, text)
    for path in _shown(settings["nav"]):
        _write(pages / page_of(path), _content(path))
    _write(pages / "icon.svg", (ROOT / ICON).read_bytes())
    nav = _listed(settings["nav"], pages)
    written = {
        "INHERIT": str(SETTINGS),
        "docs_dir": "pages",
        "nav": nav,
        "theme": {"custom_dir": str(THEME)},
        "plugins": {"mkdocstrings": {"handlers": {"python": {"paths": [str(reference.SOURCES)]}}}},
    }
    _write(folder / "mkdocs.yml", yaml.safe_dump(written, sort_keys=False, allow_unicode=True))
    _check(nav, pages)


class _Settings(yaml.SafeLoader):
    """Reads the settings without making the Python objects that they name."""


_Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def _shown(nav: Any) -> Iterator[str]:
    """Each file of the repository that has a page or is linked to, each once."""
    waiting = [str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.*")]
    waiting += [path for path in _leaves(nav) if (ROOT / path).is_file()]
    seen = set()
    while waiting:
        path = waiting.pop()
        if page_of(path) not in seen:
            seen.add(page_of(path))
            yield path
            waiting += targets(path)


def _content(path: str) -> str | bytes:
    if path.startswith("docs/") or not page_of(path).startswith("source/"):
        file = ROOT / path
        text = file.suffix == ".md"
        return turned(file.read_text(encoding="utf-8"), path) if text else file.read_bytes()
    return notebook_page(path) if path.endswith(".ipynb") else source_page(path)


def _write(file: Path, content: str | bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())


def _listed(nav: Any, pages: Path) -> Any:
    """The navigation, with the pages of a folder in the place of its name."""
    if isinstance(nav, dict):
        return {title: _listed(inner, pages) for title, inner in nav.items()}
    if isinstance(nav, list):
        return [_listed(each, pages) for each in nav]
    if not nav.endswith("/"):
        return nav
    inside = sorted(str(page.relative_to(pages)) for page in (pages / nav).rglob("*.md"))
    return sorted(inside, key=lambda page: not page.endswith(ABOVE))


def _leaves(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    return [leaf for each in inner for leaf in _leaves(each)]


def _check(nav: Any, pages: Path) -> None:
    """What generators do not look at, or not all of them."""
    found = {str(page.relative_to(pages)) for page in pages.rglob("*.md")}
    listed = set(_leaves(nav))
    faults = [f"mkdocs.yml names {page}, which does not exist" for page in listed - found]
    for page in found - listed:
        if not page.startswith("source/"):
            faults.append(f"{page} is not in the navigation of mkdocs.yml")
    faults += [f"{name} has no docstring" for name in reference.undocumented()]
    if faults:
        raise Faulty("\n".join(sorted(faults)))


if __name__ == "__main__":
    try:
        prepare(Path(sys.argv[1]))
    except Faulty as error:
        sys.exit(f"scripts/docs: {error}")
