"""Names of packages are what they say, whatever was imported before them."""

import importlib
import pkgutil

import openenv


def test_no_module_hides_a_name_of_its_package() -> None:
    for found in pkgutil.walk_packages(openenv.__path__, "openenv."):
        if found.ispkg and ".templates" not in found.name:
            package = importlib.import_module(found.name)
            modules = {each.name for each in pkgutil.iter_modules(package.__path__)}
            assert not modules & set(getattr(package, "__all__", ())), found.name
