"""The classes of an installed environment, by their usual names or by what they are."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

from openenv._generics import filled, type_arguments
from openenv.catalog.installed import EnvironmentInfo
from openenv.client.codec import Codec
from openenv.client.env_client import EnvClient


def client_class(environment: EnvironmentInfo) -> type[Any]:
    """Its client's class.

    Raises:
        ImportError: its module cannot be imported, or there is none in it.
    """
    module = _module(environment)
    name = environment.client_class_name
    named = getattr(module, name, None)
    if inspect.isclass(named):
        return named
    clients = {
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, EnvClient)
        and value.__module__.startswith(environment.package)
    }
    if len(clients) == 1:
        return clients.pop()
    raise ImportError(
        f"{module.__name__} has no class {name}, and "
        f"{f'{len(clients)} other clients' if clients else 'no other client'}; is "
        f"{environment.package_name} an OpenEnv environment, and up to date?"
    )


def action_class(environment: EnvironmentInfo) -> type[Any]:
    """Its action's class; errors as `client_class`."""
    return _model(environment, environment.action_class_name, 0)


def observation_class(environment: EnvironmentInfo) -> type[Any]:
    """Its observation's class; errors as `client_class`."""
    return _model(environment, environment.observation_class_name, 1)


def _model(environment: EnvironmentInfo, name: str, place: int) -> type[Any]:
    """The class of that name, or the one that the client's own line has in that place."""
    module = _module(environment)
    for home in (module, importlib.import_module(environment.package)):
        named = getattr(home, name, None)
        if inspect.isclass(named):
            return named
    arguments = type_arguments(client_class(environment), Codec)
    model = filled(arguments[place]) if arguments else None
    if inspect.isclass(model):
        return model
    raise ImportError(
        f"neither {module.__name__} nor {environment.package} has a class {name}; name it in the "
        "openenv.yaml (action: and observation:)"
    )


def _module(environment: EnvironmentInfo) -> ModuleType:
    try:
        return importlib.import_module(environment.client_module_path)
    except Exception as error:  # whatever the package raises
        raise ImportError(
            f"{environment.package_name} is installed, but {environment.client_module_path} cannot "
            f"be imported: {type(error).__name__}: {error}; `pip install --force-reinstall "
            f"{environment.package_name}` may help"
        ) from error
