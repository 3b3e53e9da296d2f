"""What an environment may be called, and what follows from its name."""

from importlib.metadata import packages_distributions, requires

import pytest
from packaging.requirements import Requirement

from openenv.project.errors import UsageProblem
from openenv.project.names import EnvName, named


@pytest.mark.parametrize(
    ("name", "prefix", "title", "distribution", "image"),
    [
        ("my_game_env", "MyGame", "My Game Env", "openenv-my-game-env", "openenv-my-game"),
        ("guess", "Guess", "Guess", "openenv-guess", "openenv-guess"),
        ("MyEnv", "MyEnv", "MyEnv", "openenv-myenv", "openenv-myenv"),
        ("my_2nd__env", "My2nd", "My 2nd Env", "openenv-my-2nd-env", "openenv-my-2nd"),
    ],
)
def test_a_name_has_all_its_spellings(
    name: str, prefix: str, title: str, distribution: str, image: str
) -> None:
    found = named(name)
    assert found == EnvName(name)
    assert (found.prefix, found.title) == (prefix, title)
    assert (found.distribution, found.image) == (distribution, image)


@pytest.mark.parametrize(
    ("name", "reason", "suggestion"),
    [
        ("my-env", "letters from a to z", "my_env"),
        ("1bad", "letters from a to z", "env_1bad"),
        ("", "letters from a to z", "my_env"),
        ("_", "letters from a to z", "my_env"),
        ("ends_", "letters from a to z", "ends"),
        ("größe", "letters from a to z", "groe"),
        ("hello.py", "letters from a to z", "hello"),
        ("my env", "letters from a to z", "my_env"),
        ("envs/my_env", "--output-dir", "my_env"),
        ("..", "letters from a to z", "my_env"),
        ("class", "a word of Python's own", "class_env"),
        ("json", "would hide the module", "json_env"),
        ("openenv", "would hide the module", "openenv_env"),
        ("test", "would hide the module", "test_env"),
        ("numpy", "would hide the module", "numpy_env"),
        ("pytest", "would hide the module", "pytest_env"),
        ("server", "a module inside the package", "server_env"),
        ("x" * 65, "longer than 64", "x" * 56),
    ],
)
def test_a_name_that_no_package_can_have_is_refused_with_one_that_it_can(
    name: str, reason: str, suggestion: str
) -> None:
    with pytest.raises(UsageProblem) as caught:
        named(name)
    assert reason in str(caught.value)
    assert str(caught.value).endswith(f"; try {suggestion}")
    assert named(suggestion).module == suggestion


def test_no_environment_hides_what_openenv_imports() -> None:
    lines = [Requirement(line) for line in requires("openenv-core") or ()]
    needed = {line.name.lower().replace("_", "-") for line in lines if "extra" not in str(line)}
    modules = {
        module
        for module, owners in packages_distributions().items()
        if not module.endswith("__mypyc")
        and needed & {name.lower().replace("_", "-") for name in owners}
    }
    assert modules >= {"fastapi", "pydantic", "yaml"}
    for module in modules:
        with pytest.raises(UsageProblem, match="would hide|a letter first"):
            named(module)
