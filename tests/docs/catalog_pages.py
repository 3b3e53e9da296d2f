"""docs/environments: a page of each environment, and the table of all of them.

`python -m tests.docs.catalog_pages` writes them anew, from the READMEs, the classes and the
manifests of the packages in `envs`, all of which must be installed with their engines.
"""

import os
import re
import sys
from importlib.metadata import metadata
from pathlib import Path

from pydantic import BaseModel

from openenv import Action, Observation, Options, State
from openenv.catalog.manifest import read_manifest, read_pyproject
from openenv.env.spec import EnvSpec
from tests.docs.blocks import ROOT
from tests.docs.fields import arrays, table
from tests.envs.case import Case, cases

PAGES = ROOT / "docs/environments"
INDEX = PAGES / "README.md"
FIGURES = ROOT / "benchmarks/ENVIRONMENTS.md"
HEADS = ("environment", "what it is", "actions", "observations", "reward", "engine", "extras")
_NO_ENGINE = {"fastapi", "uvicorn", "openenv-core"}
_USUAL_EXTRAS = {"server", "dev"}
_LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s:]+)(?=[#)])")
_WORDS = re.compile(r"[\w.-]+")

INTRODUCTION = """\
# Environments

Each is a package of its own: `pip install -e 'envs/chess_env[server]'` brings its server with its
engine, and without `[server]` its client alone. `openenv list` shows those that are installed,
`openenv serve envs/chess_env` serves one. All of them hold any number of sessions, each with chance
of its own: a seed gives the same episode in every process. `text` among the observations is for a
language model; *arrays* are for a network.
"""
MEASURED = """\
## Measured

On one machine, in one run; [how](../../benchmarks/ENVIRONMENTS.md), `make bench-envs` does it anew.
"""


def page(case: Case) -> str:
    """The page of an environment: its README, and every field of its classes."""
    directory = ROOT / "envs" / case.package
    readme = (directory / "README.md").read_text(encoding="utf-8").partition("---\n")[2]
    body = _linked(readme.partition("---\n")[2].strip(), directory)
    name = case.package
    parts = [
        f"<!-- Written by `make catalog` from envs/{name}; change it there. -->",
        body,
        f"## Fields\n\nOf the classes in [`envs/{name}`](../../envs/{name}), beyond those that "
        "all environments have.",
    ]
    spec = EnvSpec.of(case.environment_class)
    classes = ((spec.action, Action), (spec.observation, Observation), (spec.state, State))
    parts += [f"### {model.__name__}\n\n{table(model, base)}" for model, base in classes]
    parts += [_options(model) for model in options(case)]
    return "\n\n".join(parts) + "\n"


def _linked(text: str, directory: Path) -> str:
    """A README whose links lead to the same places from the folder of the pages."""

    def moved(link: "re.Match[str]") -> str:
        return os.path.relpath((directory / link["path"]).resolve(), PAGES)

    return _LINK.sub(moved, text)


def options(case: Case) -> list[type[Options]]:
    """The classes of an environment's options; its modules must be imported."""
    own = f"{case.package}."
    return [each for each in Options.__subclasses__() if each.__module__.startswith(own)]


def _options(model: type[BaseModel]) -> str:
    told = "`reset` takes them for an episode, and a server's variables hold for all of its own."
    return f"### {model.__name__}\n\n{told}\n\n{table(model, Options)}"


def row(case: Case) -> str:
    """An environment's line in the table of all of them."""
    directory = ROOT / "envs" / case.package
    spec = EnvSpec.of(case.environment_class)
    manifest, project = read_manifest(directory), read_pyproject(directory)
    least, most = (manifest.validation or {})["reward"]["range"]
    short = case.package.removesuffix("_env")
    extras = sorted(project.optional_dependencies.keys() - _USUAL_EXTRAS)
    listed = [
        f"[{short}]({short}.md)",
        manifest.description,
        _fields(spec.action, Action),
        _fields(spec.observation, Observation) + _arrays(spec.observation),
        f"{least:g} to {most:g}",
        "<br>".join(map(_licensed, _engines(project.optional_dependencies["server"]))) or "–",
        ", ".join(f"`{extra}`" for extra in extras) or "–",
    ]
    return f"| {' | '.join(map(str, listed))} |"


def _fields(model: type[BaseModel], beyond: type[BaseModel]) -> str:
    return ", ".join(f"`{name}`" for name in model.model_fields if name not in beyond.model_fields)


def _arrays(model: type[BaseModel]) -> str:
    found = ", ".join(f"`{name}`" for name in arrays(model))
    return f"; *arrays*: {found}" if found else ""


def _engines(requirements: list[str]) -> list[str]:
    """What a server needs besides what all of them do."""
    names = [_WORDS.match(requirement) for requirement in requirements]
    return [name[0] for name in names if name is not None and name[0] not in _NO_ENGINE]


def _licensed(distribution: str) -> str:
    """A distribution and its licence, as its own metadata has it."""
    said = metadata(distribution).json
    classified = [each for each in said.get("classifier", []) if each.startswith("License ::")]
    named = [said.get("license_expression"), *(each.rpartition(":: ")[2] for each in classified)]
    written = str(said.get("license", "")).partition("\n")[0]
    return f"{distribution} ({next(filter(None, [*named, written]), 'unknown')})"


def index(rows: list[str]) -> str:
    """The page of the table of all environments."""
    heads = [f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}"]
    listed = "\n".join([*heads, *rows])
    return f"{INTRODUCTION}\n{listed}\n\n{MEASURED}\n{figures()}\n"


def figures() -> str:
    """The tables of what was measured, one beneath another."""
    _, table, rest = FIGURES.read_text(encoding="utf-8").partition("\n| environment |")
    return f"{table}{rest}".strip()


def rewrite() -> None:
    """Writes all pages anew."""
    known = cases()
    if missing := [case.missing() for case in known if case.missing()]:
        sys.exit("\n".join(map(str, missing)))
    for case in known:
        page_of(case).write_text(page(case), encoding="utf-8")
    INDEX.write_text(index([row(case) for case in known]), encoding="utf-8")


def page_of(case: Case) -> Path:
    """Where the page of an environment lies."""
    return PAGES / f"{case.package.removesuffix('_env')}.md"


if __name__ == "__main__":
    rewrite()
