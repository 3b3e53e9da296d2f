"""What `openenv serve TARGET` serves: the spelling of a target, and the object that it names.

echo.py               the one environment class that the file defines
echo.py:Echo          that class, or a function that makes an environment, or a ready ASGI app
package.module:Echo   the same, imported
directory             what the `app:` line of its openenv.yaml names
echo                  the same of an installed package, by its name
gym:CartPole-v1       the Gymnasium environment of that id, as `gymnasium.make` takes it
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from openenv.catalog.installed import find
from openenv.catalog.manifest import (
    MANIFEST,
    Manifest,
    ManifestError,
    read_manifest,
    read_pyproject,
)
from openenv.env.environment import Environment
from openenv.protocol.errors import ConfigurationError

_SPELLINGS = (
    "give a file.py, file.py:Class, module:Class, gym:Id-v0, a directory with an openenv.yaml, or "
    "the name of an installed environment (openenv list)"
)
_GYMNASIUM = "gym:"
_NAMED = re.compile(r"(?P<place>.+):(?P<name>[A-Za-z_][\w.]*)")


class TargetError(ConfigurationError):
    """A target that names nothing, or nothing that can be served."""


@dataclass(frozen=True)
class Target:
    """An object that can be served.

    Attributes:
        served: an environment (class, factory or instance), or an ASGI app.
        is_app: it is a ready ASGI app.
    """

    served: Any
    is_app: bool


def resolve(text: str) -> Target:
    """The object that a target names; its module is imported.

    Raises:
        TargetError: there is no such place, it could not be imported, or it does not say clearly
            what to serve. The text says which, and what to do.
        ManifestError: a directory's openenv.yaml is wrong; the text says where.
    """
    if text.startswith(_GYMNASIUM):
        return _from_gymnasium(text.removeprefix(_GYMNASIUM))
    named = _NAMED.fullmatch(text)
    place, name = (named["place"], named["name"]) if named else (text, None)
    path = Path(place)
    if name is None and path.is_dir():
        return _from_directory(path.resolve())
    if path.suffix == ".py":
        module = _import_file(path)
    elif name is not None:
        module = _import_module(place, [Path.cwd()])
    else:
        return _from_installed(text)
    return _target(text, _find(module, name) if name else _only_environment(module, text))


def _from_directory(directory: Path) -> Target:
    """What a directory's manifest names; a package is imported under its own name."""
    if not (directory / MANIFEST).is_file():
        raise TargetError(f"{directory} holds no {MANIFEST}; {_SPELLINGS}")
    app = read_manifest(directory).app
    module, _, name = app.partition(":")
    if (directory / "__init__.py").is_file():
        module = f"{_package(directory, module)}.{module}"
    return _target(app, _find(_import_module(module, _paths(directory)), name))


def _from_installed(name: str) -> Target:
    """An environment whose package is installed here, by its name."""
    try:
        environment = find(name)
    except ConfigurationError as error:
        raise TargetError(
            f"there is no file or directory {name!r}, and no environment of that name is "
            f"installed; {_SPELLINGS}"
        ) from error
    app = str((environment.manifest or {}).get("app", Manifest.model_fields["app"].default))
    module, _, name = app.partition(":")
    served = _find(_import_module(f"{environment.package}.{module}", [Path.cwd()]), name)
    return _target(app, served)


def _package(directory: Path, module: str) -> str:
    """The name of a directory's package: its command's, where the directory has got another one."""
    try:
        command = read_pyproject(directory).scripts.get("server", "").partition(":")[0]
    except ManifestError:
        return directory.name
    name = command.removesuffix(f".{module}")
    if name == directory.name or not name.isidentifier() or name in sys.stdlib_module_names:
        return directory.name
    if name not in sys.modules:
        _guarded(name, directory, lambda: _load(directory / "__init__.py", name))
    return name


def _from_gymnasium(env_id: str) -> Target:
    """A Gymnasium environment, found as the working directory's own programs would find it."""
    _prefer([Path.cwd()])
    try:
        from openenv.gym.served_env import served

        return Target(served(env_id), is_app=False)
    except (ImportError, ConfigurationError) as error:
        raise TargetError(str(error)) from error


# ── importing ─────────────────────────────────────────────────────────────────────────────────────


def _import_file(path: Path) -> ModuleType:
    """A file's module: by its dotted name if it lies in a package, else by its own name."""
    if not path.is_file():
        raise TargetError(f"there is no file {str(path)!r}; {_SPELLINGS}")
    path = path.resolve()
    package = path.parent
    while (package.parent / "__init__.py").is_file():
        package = package.parent
    if (package / "__init__.py").is_file():
        dotted = path.relative_to(package.parent).with_suffix("")
        return _import_module(".".join(dotted.parts), _paths(package))
    # A module that has the file's name already stays as it is.
    name = path.stem if path.stem not in sys.modules else f"served_{path.stem}"
    return _guarded(str(path), path.parent, lambda: _load(path, name))


def _load(path: Path, name: str) -> ModuleType:
    """Runs a file as the module of a name by which nobody would find it."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "a .py file always has a loader"
    _prefer([path.parent])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _import_module(name: str, paths: list[Path]) -> ModuleType:
    _prefer(paths)
    return _guarded(name, paths[0], lambda: importlib.import_module(name))


def _paths(package: Path) -> list[Path]:
    """Where a package's modules find each other: by its own name, or as if it were no package."""
    return [package, package.parent]


def _prefer(paths: list[Path]) -> None:
    sys.path[:0] = [str(path) for path in paths if str(path) not in sys.path]


def _guarded(what: str, root: Path, load: Callable[[], ModuleType]) -> ModuleType:
    """Loads a module; whatever its code raises is told with the lines of that code alone."""
    try:
        return load()
    except ConfigurationError as error:  # which says what to do, wherever it was raised
        raise TargetError(f"{what} could not be imported: {error}") from error
    except (Exception, SystemExit) as error:
        raise TargetError(
            f"{what} could not be imported; correct what it raises:\n{_trimmed(error, root)}"
        ) from error


def _trimmed(error: BaseException, root: Path) -> str:
    """A traceback of the frames under `root`; if there are none, of all but the import system's."""
    report = traceback.TracebackException.from_exception(error)
    link: traceback.TracebackException | None = report
    while link:
        foreign = [frame for frame in link.stack if not _imports(frame)]
        own = [frame for frame in foreign if Path(frame.filename).is_relative_to(root)]
        link.stack = traceback.StackSummary.from_list(own or foreign)
        link = link.__cause__ or link.__context__
    return "".join(report.format() if report.stack else report.format_exception_only()).rstrip()


def _imports(frame: traceback.FrameSummary) -> bool:
    return frame.filename in (__file__, importlib.__file__) or "importlib." in frame.filename


# ── finding ───────────────────────────────────────────────────────────────────────────────────────


def _only_environment(module: ModuleType, text: str) -> Any:
    found = [cls for cls in _environments(module) if not inspect.isabstract(cls)]
    if len(found) == 1:
        return found[0]
    names = [environment.__name__ for environment in found]
    if names:
        raise TargetError(
            f"{text} defines {len(names)} environments ({', '.join(names)}); say which, as "
            f"{text}:{names[0]}"
        )
    for unfinished in _environments(module):
        missing = ", ".join(sorted(unfinished.__abstractmethods__))
        raise TargetError(
            f"{unfinished.__name__} in {text} does not define {missing}; write it, or name what "
            f"is to be served, as {text}:NAME"
        )
    raise TargetError(
        f"{text} defines no subclass of Environment; write one, or name what is to be served, as "
        f"{text}:NAME"
    )


def _environments(module: ModuleType) -> list[type[Any]]:
    """The environment classes that a module defines itself, unfinished ones included."""
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Environment)
        and value.__module__ == module.__name__
    ]


def _find(module: ModuleType, name: str) -> Any:
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            known = ", ".join(cls.__name__ for cls in _environments(module)) or "none"
            raise TargetError(
                f"{module.__name__} has no {name!r}; the environments that it defines: {known}"
            )
        value = getattr(value, part)
    return value


def _target(text: str, value: Any) -> Target:
    """Says what kind of thing was named.

    Raises:
        TargetError: it is nothing that can be served.
    """
    if isinstance(value, Environment):
        return Target(value, is_app=False)
    if inspect.isclass(value) and issubclass(value, Environment):
        return Target(value, is_app=False)
    if callable(value) and not inspect.isclass(value):
        return Target(value, is_app=_is_awaited(value))
    raise TargetError(
        f"{text} is {value!r}; it takes a subclass of Environment, a function that makes one, or "
        "an ASGI app"
    )


def _is_awaited(value: Callable[..., Any]) -> bool:
    """Tells an ASGI app, which is awaited, from a function that makes an environment."""
    return inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(type(value).__call__)
