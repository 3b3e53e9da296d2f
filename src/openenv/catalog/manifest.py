"""What an environment's package says of itself: its `openenv.yaml` and its `pyproject.toml`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from openenv.protocol.errors import ConfigurationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MANIFEST = "openenv.yaml"
PYPROJECT = "pyproject.toml"
_LARGEST_BYTES = 1 << 20
_MOST_VALUES = 1 << 16

_ModelT = TypeVar("_ModelT", bound=BaseModel)
_Location = tuple[int | str, ...]


class ManifestError(ConfigurationError):
    """A file of a package that is missing, unreadable or wrong.

    Attributes:
        path: the file.
        line: where in it, from 1; `None` where the file as a whole is meant.
        column: likewise.
    """

    def __init__(
        self, path: Path, problem: str, line: int | None = None, column: int | None = None
    ) -> None:
        self.path = path
        self.line = line
        self.column = column
        place = "" if line is None else f":{line}" if column is None else f":{line}:{column}"
        super().__init__(f"{path}{place}: {problem}")


def _text(value: Any) -> Any:
    """A number or a truth value where a text belongs, as YAML spells it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


_Text = Annotated[str, BeforeValidator(_text)]


class Manifest(BaseModel):
    """An `openenv.yaml`. Keys that are not known here are left alone.

    Attributes:
        spec_version: the version of the manifest's own form.
        name: the environment's name.
        version: the environment's version.
        type: what it is published as; `space` is all there is.
        runtime: what serves it; `fastapi` is all there is.
        app: the ASGI app, as `module:name` seen from the package's directory.
        port: the port that its container listens on.
        description: a line for people.
        action: the action's class name, for those who look it up.
        observation: the observation's class name.
        variables: environment variables of a deployment.
        validation: what `openenv validate` is to hold it to.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    spec_version: int = 1
    name: str = Field(min_length=1)
    version: _Text = "0.1.0"
    type: str = "space"
    runtime: str = "fastapi"
    app: str = Field("server.app:app", pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")
    port: int = Field(8000, ge=1, le=65535)
    description: _Text | None = None
    action: str | None = None
    observation: str | None = None
    variables: dict[str, _Text] = {}
    validation: dict[str, Any] | None = None


class Pyproject(BaseModel):
    """What a `pyproject.toml` says of a package.

    Attributes:
        name: the distribution's name.
        version: its version; `None` where a tool works it out.
        description: a line for people.
        requires_python: the Pythons it runs on.
        dependencies: what it needs, as PEP 508 writes it.
        optional_dependencies: the extras.
        scripts: commands, as `module:function`.
        entry_points: groups of names of objects.
        tool: what is left to tools, by the tool's name.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(validation_alias=AliasPath("project", "name"))
    version: str | None = Field(None, validation_alias=AliasPath("project", "version"))
    description: str | None = Field(None, validation_alias=AliasPath("project", "description"))
    requires_python: str | None = Field(
        None, validation_alias=AliasPath("project", "requires-python")
    )
    dependencies: list[str] = Field([], validation_alias=AliasPath("project", "dependencies"))
    optional_dependencies: dict[str, list[str]] = Field(
        {}, validation_alias=AliasPath("project", "optional-dependencies")
    )
    scripts: dict[str, str] = Field({}, validation_alias=AliasPath("project", "scripts"))
    entry_points: dict[str, dict[str, str]] = Field(
        {}, validation_alias=AliasPath("project", "entry-points")
    )
    tool: dict[str, Any] = {}


def read_manifest(directory: Path) -> Manifest:
    """A package's `openenv.yaml`.

    Raises:
        ManifestError: there is none, it is not YAML, or a value in it is none that it may have.
            The text says in which line and column.
    """
    path = directory / MANIFEST
    text = _read(path, "an environment's directory has one; openenv init makes it")
    try:
        node = yaml.compose(text, yaml.SafeLoader)
        if node is not None and _values(node, {}) > _MOST_VALUES:
            raise ValueError(f"aliases repeat values in it to more than {_MOST_VALUES}")
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise ManifestError(path, f"no YAML: {error.problem}; correct it", line, column) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ManifestError(path, f"no YAML: {error}; correct it") from error
    if not isinstance(content, dict):
        raise ManifestError(
            path, f"holds {_short(content)}; it takes `key: value` lines, as name: my_env", 1, 1
        )
    return _model(Manifest, content, path, lambda place: yaml_place(node, place))


def read_pyproject(directory: Path) -> Pyproject:
    """A package's `pyproject.toml`.

    Raises:
        ManifestError: there is none, it is not TOML, or a value in it is none that it may have.
            The text says in which line and, where that is known, column.
    """
    path = directory / PYPROJECT
    text = _read(path, "an environment's package has one; openenv init makes it")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, line, column = _toml_fault(error, text)
        raise ManifestError(path, f"no TOML: {problem}; correct it", line, column) from error
    except RecursionError as error:
        raise ManifestError(path, "no TOML that anyone wrote: nested too deeply") from error
    return _model(Pyproject, content, path, lambda place: _toml_place(text, place))


def _read(path: Path, what_it_is: str) -> str:
    """A file's text; what is no UTF-8, or too large to be what it should be, is refused."""
    if not path.is_file():
        raise ManifestError(path, f"there is no such file; {what_it_is}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ManifestError(path, f"cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST_BYTES:
        raise ManifestError(path, f"is larger than {_LARGEST_BYTES} bytes; is it the right file?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ManifestError(path, "is not UTF-8; save it as UTF-8", line) from error


def _model(
    model: type[_ModelT],
    content: Mapping[str, Any],
    path: Path,
    place: Callable[[_Location], tuple[int | None, int | None]],
) -> _ModelT:
    """The model of a file's content; its first fault is raised where it lies."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        line, column = place(fault["loc"])
        raise ManifestError(path, _told(fault), line, column) from error


def _told(fault: ErrorDetails) -> str:
    key = ".".join(map(str, fault["loc"]))
    if fault["type"] == "missing":
        return f"has no {key}; add one"
    if key == "app":
        return f"app: {_short(fault['input'])}; it takes module:name, as server.app:app"
    return f"{key}: {_short(fault['input'])}; {fault['msg']}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


# ── where a value stands ──────────────────────────────────────────────────────────────────────────


def _values(node: yaml.Node, counted: dict[int, int]) -> int:
    """How many values a node holds, each as often as aliases repeat it; too many if in itself."""
    if id(node) not in counted:
        counted[id(node)] = _MOST_VALUES + 1
        counted[id(node)] = 1 + sum(_values(inner, counted) for inner in _inside(node))
    return counted[id(node)]


def _inside(node: yaml.Node) -> Iterable[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return chain.from_iterable(node.value)
    return node.value if isinstance(node, yaml.SequenceNode) else ()


def yaml_place(node: yaml.Node | None, place: _Location) -> tuple[int | None, int | None]:
    """The line and column of a value, or of what it is missing from."""
    for part in place:
        if isinstance(node, yaml.MappingNode):
            inner = next((value for key, value in node.value if key.value == str(part)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            inner = node.value[part]
        else:
            inner = None
        if inner is None:
            break
        node = inner
    return (node.start_mark.line + 1, node.start_mark.column + 1) if node else (None, None)


def _toml_fault(error: tomllib.TOMLDecodeError, text: str) -> tuple[str, int, int]:
    """What the parser says, and where."""
    problem = re.sub(r" \(at .*\)$", "", str(error))
    if at := re.search(r"at line (\d+), column (\d+)", str(error)):
        return problem, int(at[1]), int(at[2])
    lines = text.split("\n")  # "at end of document"
    return problem, len(lines), len(lines[-1]) + 1


def _toml_place(text: str, place: _Location) -> tuple[int | None, int | None]:
    """The line of a key under its table's header, as people write it; TOML's parser keeps none."""
    table, key = "", ".".join(map(str, place))
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w.\-\"' ]+?)\s*\]", line):
            table = f"{header[1]}."
        elif found := re.match(r"\s*([\w.\-]+)\s*=", line):
            full = table + found[1]
            if key == full or key.startswith(f"{full}."):
                return number, found.start(1) + 1
    return None, None
