"""`openenv eject`: a one-file environment becomes a package."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import openenv
from openenv.catalog.manifest import MANIFEST
from openenv.env.environment import Environment
from openenv.env.spec import EnvSpec
from openenv.env.tools import tools_of
from openenv.project import scaffold
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.names import EnvName, named
from openenv.project.split import Chunk, chunks, halve
from openenv.project.target import resolve

_MODELS_DOCSTRING = '"""What is said to {title}, and what comes back."""\n\n'
_APPS = ("create_app", "create_fastapi_app", "create_web_interface_app")


@dataclass(frozen=True)
class Ejected:
    """A package that was made of a file.

    Attributes:
        name: the environment's name.
        path: the package's folder.
        notes: what was left out of it, and what is left to do.
    """

    name: EnvName
    path: Path
    notes: tuple[str, ...]


def eject(source: Path, name: str | None, parent: Path) -> Ejected:
    """Makes a package of a file that holds an environment; the file stays as it is.

    Args:
        source: the file, or a folder with no other file of Python in it.
        name: the environment's name; the file's by default.
        parent: the folder that the package is made in.

    Raises:
        UsageProblem: there is no such file, or the name is none that a package can have.
        ProjectError: the file cannot be cut in two, or the package cannot be written.
        TargetError: the file could not be imported, or does not define one environment.
    """
    file = _the_file(source)
    chosen = named(name or file.stem)
    environment = _environment(file)
    spec = EnvSpec.of(environment)
    story = _story(chosen, environment, spec)
    pieces = chunks(_source(file))
    _refuse_neighbours(file, pieces)
    kept = [piece for piece in pieces if not _starts_a_server(piece)]
    dependencies, unknown = _dependencies(kept)
    notes = [*_told(pieces, kept), *unknown]
    files = scaffold.package(chosen, story, dependencies) | scaffold.ejected_test(chosen, story)
    files |= _halves(chosen, story, kept, environment)
    return Ejected(chosen, scaffold.write_new(parent / chosen.module, files), tuple(notes))


def _the_file(source: Path) -> Path:
    if source.is_file():
        return source.resolve()
    if not source.is_dir():
        raise UsageProblem(f"there is no file {str(source)!r}; name the file of an environment")
    if (source / MANIFEST).is_file():
        raise UsageProblem(f"{source} is a package already: it holds {MANIFEST}")
    found = sorted(source.glob("*.py"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise UsageProblem(f"{source} holds {len(found)} files of Python ({names}); name one")
    return found[0].resolve()


def _source(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProjectError(f"{file} is not UTF-8; save it as UTF-8") from error


def _environment(file: Path) -> type[Environment[Any, Any, Any]]:
    """The one environment class of a file."""
    found: type[Environment[Any, Any, Any]] = resolve(str(file)).served
    return found


def _story(name: EnvName, environment: type, spec: EnvSpec) -> scaffold.Story:
    observation = spec.reset_observation or spec.observation
    types = (spec.action, observation, spec.state)
    for cls in types:
        if not (inspect.isclass(cls) and (_is_own(cls, environment) or _is_public(cls))):
            raise ProjectError(
                f"{environment.__name__} is made with {getattr(cls, '__name__', cls)}, which is no "
                "class of its file nor of openenv; define one class for the action, one for the "
                "observation and one for the state, as class Move(Action)"
            )
    taken = {environment.__name__, *(cls.__name__ for cls in types)}
    client = f"{name.prefix}Env"
    about = (inspect.getdoc(environment) or "").partition("\n")[0].strip()
    return scaffold.Story(
        action=spec.action.__name__,
        observation=observation.__name__,
        state=spec.state.__name__,
        environment=environment.__name__,
        client=f"{name.prefix}Client" if client in taken else client,
        about=re.sub(r'[\\"]', "", about) or f"The environment {name.title}.",
        steps=f"    print(env.reset().observation)\n{_an_example(spec, environment)}",
        reward_range=(-1e6, 1e6),
        own_state=_is_own(spec.state, environment),
        calls_tools=spec.traits.untyped_calls,
    )


def _an_example(spec: EnvSpec, environment: type) -> str:
    """The lines of the README that act on it."""
    if not spec.traits.untyped_calls:
        return f"    # env.step({spec.action.__name__}(…))"
    listed = "    print([tool.name for tool in env.list_tools()])"
    tools = tools_of(environment)
    if not tools:
        return listed
    first = tools[0].description
    given = "".join(f", {name}=…" for name in first.input_schema.get("required", []))
    return f'{listed}\n    # env.call_tool("{first.name}"{given})'


def _is_own(cls: type, environment: type) -> bool:
    return cls.__module__ == environment.__module__


def _is_public(cls: type) -> bool:
    return getattr(openenv, cls.__name__, None) is cls


def _halves(
    name: EnvName, story: scaffold.Story, pieces: list[Chunk], environment: type
) -> dict[str, str]:
    roots = {story.action, story.observation, *([story.state] if story.own_state else [])}
    local = {name for piece in pieces if not piece.is_import for name in piece.defines}
    module = f"{name.module}.models"
    foreign = "".join(f"from openenv import {each} as {each}\n" for each in sorted(roots - local))
    halves = halve(pieces, roots & local, environment.__name__, module, foreign)
    docstring = _MODELS_DOCSTRING.format(title=name.title)
    return {
        "models.py": _ended(docstring + halves.models.lstrip("\n")),
        f"server/{name.module}_environment.py": _ended(halves.rest.lstrip("\n")),
    }


def _ended(text: str) -> str:
    return text.rstrip() + "\n"


# ── what cannot come along ────────────────────────────────────────────────────────────────────────


def _refuse_neighbours(file: Path, pieces: list[Chunk]) -> None:
    """Refuses a file that is not alone."""
    for level, module in _imports(pieces):
        beside = file.parent / module
        if level or beside.with_suffix(".py").is_file() or (beside / "__init__.py").is_file():
            raise ProjectError(
                f"{file.name} imports {'.' * level}{module}, a neighbour that is not taken along; "
                f"write what it needs into {file.name}, or install {module or 'it'} as a package"
            )


def _imports(pieces: list[Chunk]) -> Iterator[tuple[int, str]]:
    """The level and the first name of each module that is imported, wherever that is written."""
    for node in (node for piece in pieces for whole in piece.nodes for node in ast.walk(whole)):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, (node.module or "").partition(".")[0]


def _starts_a_server(piece: Chunk) -> bool:
    """Whether a chunk does what `server/app.py` does now."""
    [node, *more] = piece.nodes
    if more:
        return False
    match node:
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Assign(value=ast.Call(func=function)):
            return ast.unparse(function).rpartition(".")[2] in _APPS
    return False


def _told(pieces: list[Chunk], kept: list[Chunk]) -> Iterator[str]:
    for piece in pieces:
        if piece not in kept:
            line = ast.unparse(piece.nodes[0]).partition("\n")[0]
            yield f"`{line}` stays out: server/app.py does that"


def _dependencies(pieces: list[Chunk]) -> tuple[list[str], list[str]]:
    """The requirements of what is imported, and what is not known to come from anywhere."""
    ours = {"openenv", "openenv_core", "pydantic", "__future__"} | sys.stdlib_module_names
    modules = sorted({module for _, module in _imports(pieces)} - ours)
    if not modules:
        return [], []
    known = packages_distributions()
    found = sorted({known[module][0] for module in modules if module in known})
    return (
        [f"{dist}>={'.'.join(version(dist).split('.')[:2])}" for dist in found],
        [
            f"what provides {module} is not known; add it to the dependencies in pyproject.toml"
            for module in modules
            if module not in known
        ],
    )
