"""The reference: a page of each public module, made of what it exports and of the docstrings.

Nothing is imported for it. What two modules export has one place, in the more special of them.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from scripts.docs_site.places import ROOT

SOURCES = ROOT / "src"
FOLDER = "reference"


@dataclass(frozen=True)
class Chapter:
    """A page of the reference.

    Attributes:
        title: what it is called.
        module: what its names are imported from.
        homes: beginnings of the modules that its names are written in; empty for any.
        told: what it is about; by default what the module's docstring says.
    """

    title: str
    module: str
    homes: tuple[str, ...] = ("",)
    told: str = ""

    @property
    def page(self) -> str:
        """Its name on the site."""
        return f"{FOLDER}/{self.title}.md"


MODULES = ("rollout", "rubrics", "evals", "harness", "gym", "testing", "providers", "llm")
LAST = (
    Chapter(
        "openenv.client",
        "openenv",
        ("openenv.client.", "openenv.catalog."),
        "Clients of environments, blocking and awaiting. All are imported from `openenv`.",
    ),
    Chapter(
        "openenv.errors",
        "openenv",
        ("openenv.protocol.errors",),
        "Every error that OpenEnv raises on purpose; [when each comes](../errors.md). All are "
        "imported from `openenv`.",
    ),
    Chapter("openenv", "openenv", told="Environments, their tools, and what serves them."),
)
"""Chapters of what `openenv` exports and no other chapter has."""


def pages() -> Iterator[tuple[str, str]]:
    """Each page of the reference: its name on the site, and its text."""
    chapters = _chapters()
    for chapter, names in chapters.items():
        shown = "\n\n".join(f"::: {chapter.module}.{name}" for name in sorted(names))
        yield chapter.page, f"# {chapter.title}\n\n{_told(chapter)}\n\n{shown}\n"
    yield f"{FOLDER}/index.md", _index(list(chapters))


def undocumented() -> list[str]:
    """The names of the reference that have no docstring."""
    named = [export for names in _chapters().values() for export in names.items()]
    return [f"{home}.{name}" for name, home in named if not _definitions(_tree(home)).get(name)]


def _chapters() -> dict[Chapter, dict[str, str]]:
    """The chapters, and the names in each with the module where each is written."""
    chapters = [Chapter(module, module) for module in _modules()] + list(LAST)
    places: dict[tuple[str, str], Chapter] = {}
    for chapter in chapters:
        for name, home in exports(chapter.module):
            if home.startswith(chapter.homes):
                places.setdefault((name, home), chapter)
    return {
        chapter: dict(export for export, place in places.items() if place is chapter)
        for chapter in chapters
    }


def _modules() -> Iterator[str]:
    """The public modules that have a chapter each."""
    yield from (f"openenv.{name}" for name in MODULES)
    for path in sorted((SOURCES / "openenv/integrations").iterdir()):
        if not path.name.startswith("_") and path.suffix in {"", ".py"}:
            yield f"openenv.integrations.{path.stem}"


def exports(module: str) -> Iterator[tuple[str, str]]:
    """The names that a module offers, and the module in which each is written.

    Those are what it imports for type checkers; where it imports nothing, what it defines with a
    docstring.
    """
    tree = _tree(module)
    imported = [
        (alias.name, node.module or "")
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    for name, home in imported or _own(module):
        if home.startswith("openenv.") and not _file(f"{home}.{name}").exists():
            yield name, home


def _told(chapter: Chapter) -> str:
    return chapter.told or ast.get_docstring(_tree(chapter.module)) or ""


def _index(chapters: list[Chapter]) -> str:
    rows = "\n".join(
        f"| [`{each.title}`]({each.title}.md) | {_told(each).partition(chr(10))[0]} |"
        for each in sorted(chapters, key=lambda chapter: chapter.title)
    )
    return (
        "# Reference\n\nThe public names, as their docstrings explain them. What a module does not "
        f"export is private.\n\n| module | what it has |\n| --- | --- |\n{rows}\n"
    )


def _own(module: str) -> list[tuple[str, str]]:
    return [(name, module) for name, text in _definitions(_tree(module)).items() if text]


def _definitions(tree: ast.Module) -> dict[str, str]:
    """The public names that a module defines, and what is said of each."""
    found = {}
    inner = [each for node in tree.body if isinstance(node, ast.If) for each in node.body]
    nodes = [*tree.body, *inner, ast.Pass()]
    for node, after in pairwise(nodes):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = ast.get_docstring(node) or ""
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {each.id: _text(after) for each in targets if isinstance(each, ast.Name)}
    return {name: text for name, text in found.items() if not name.startswith("_")}


def _text(node: ast.stmt) -> str:
    """The text that stands alone, as docstrings do; empty if it is another statement."""
    alone = node.value if isinstance(node, ast.Expr) else None
    return str(alone.value) if isinstance(alone, ast.Constant) else ""


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_file(module).read_text(encoding="utf-8"))


def _file(module: str) -> Path:
    """The file of a module or package; of a name that is neither, one that does not exist."""
    path = SOURCES / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
