"""Plan: how a new process comes to the environment of this one."""

from __future__ import annotations

import importlib.util
import os
import pickle
import runpy
import sys
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from typing import Any

from openenv.env.spec import EnvSpec
from openenv.protocol.errors import ConfigurationError
from openenv.protocol.wire import ServerMode
from openenv.runtime.limits import Limits

MAIN = "__openenv_main__"
"""The name under which a child runs the script of its server, to find the environment in it."""


@dataclass(frozen=True)
class Plan:
    """All that a child needs to build an environment. It is pickled, and so are its parts in it.

    Attributes:
        parts: what is known of the environment, its classes by the names of their modules.
        path: where modules are found.
        main: the module, or else the file, that the server was started with.
        files: modules that are found under no name, for example those served by path.
        tracebacks: whether errors carry the author's part of the traceback.
        mode: for whom the server is.
        tool_timeout: how long a call of a tool may run that says nothing else, in seconds.
    """

    parts: bytes
    tracebacks: bool
    mode: ServerMode = ServerMode.SIMULATION
    tool_timeout: float | None = Limits.tool_timeout
    path: list[str] = field(default_factory=lambda: [entry or os.getcwd() for entry in sys.path])
    main: tuple[str | None, str | None] = (None, None)
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        spec: EnvSpec,
        *,
        tracebacks: bool,
        mode: ServerMode = ServerMode.SIMULATION,
        tool_timeout: float | None = Limits.tool_timeout,
    ) -> Plan:
        """The plan for an environment.

        Raises:
            ConfigurationError: a new process cannot import it.
        """
        try:
            types = (spec.action, spec.observation, spec.state)
            known = (spec.name, spec.make, *types, spec.traits, False, spec.reset_observation)
            pickled = pickle.dumps(known)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise _unimportable(spec.name, str(error)) from error
        names = [name for name in sys.modules if name.encode() in pickled]
        main = _main() if "__main__" in names else (None, None)
        if "__main__" in names and not any(main):
            raise _unimportable(spec.name, "it was typed in, or piped to Python")
        return cls(
            pickled,
            tracebacks,
            mode,
            tool_timeout,
            main=main,
            files={name: file for name in names if (file := _file_of(name)) is not None},
        )

    def load(self) -> EnvSpec:
        """The environment, in the new process."""
        sys.path[:] = self.path
        for name, file in self.files.items():
            _load_file(name, file)
        if any(self.main):
            _load_main(*self.main)
        return EnvSpec(*pickle.loads(self.parts))


def _unimportable(name: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        "a process host needs an environment that a new process can import; "
        f"{name} cannot be: {why}. Define it at the top level of a module, or use a thread host"
    )


def _main() -> tuple[str | None, str | None]:
    """The module, or else the file, that this process was started with."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    return (spec.name if spec else None, getattr(main, "__file__", None))


def _file_of(name: str) -> str | None:
    """The file of a module that nobody else can find by its name."""
    own = getattr(sys.modules.get(name), "__spec__", None)
    if own is None or not own.has_location or "." in name or name == "__main__":
        return None
    found = PathFinder.find_spec(name)
    return None if found is not None and found.origin == own.origin else str(own.origin)


def _load_file(name: str, file: str) -> None:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def _load_main(name: str | None, file: str | None) -> None:
    """Runs what the server was started with, but not as the main program."""
    contents: dict[str, Any] = (
        runpy.run_module(name, run_name=MAIN) if name else runpy.run_path(file or "", run_name=MAIN)
    )
    module = type(sys)(MAIN)
    module.__dict__.update(contents)
    sys.modules["__main__"] = sys.modules[MAIN] = module
