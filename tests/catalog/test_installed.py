"""Environments that are installed: found by any spelling, whatever lies beside them, at once."""

from pathlib import Path

import pytest

from openenv.catalog.discovery import get_discovery, reset_discovery
from openenv.catalog.installed import EnvironmentInfo, find, installed, key_of
from openenv.protocol.errors import ConfigurationError
from tests.catalog.packages import CLIENT, install


@pytest.mark.parametrize(
    "spelling", ["cavern", "Cavern", "cavern-env", "cavern_env", "openenv-cavern-env", " cavern "]
)
def test_every_spelling_finds_it(site: Path, spelling: str) -> None:
    install(site, "openenv-cavern-env", "cavern_env", prefix="Cavern")
    assert find(spelling).package == "cavern_env"


def test_what_is_known_without_importing_it(site: Path) -> None:
    manifest = "name: deep_maze_env\nversion: 0.3.0\ndescription: A deep maze\nextra: 1\n"
    directory = install(
        site,
        "openenv-deep-maze-env",
        "deep_maze_env",
        files={"openenv.yaml": manifest, "client.py": "raise RuntimeError('it was imported')"},
    )
    assert installed()["deep_maze"] == EnvironmentInfo(
        env_key="deep_maze",
        name="deep_maze_env",
        package_name="openenv-deep-maze-env",
        version="1.0",
        description="A deep maze",
        client_module_path="deep_maze_env.client",
        client_class_name="DeepMazeEnv",
        action_class_name="DeepMazeAction",
        observation_class_name="DeepMazeObservation",
        default_image="deep-maze-env:latest",
        spec_version=1,
        manifest={"name": "deep_maze_env", "version": "0.3.0", "description": "A deep maze"},
        package="deep_maze_env",
        directory=directory,
    )


def test_one_that_is_installed_later_is_found_and_one_that_goes_is_not(site: Path) -> None:
    assert "cave" not in installed()
    install(site, "openenv-cave-env", "cave_env", prefix="Cave")
    assert "cave" in installed()
    assert "cave" in get_discovery().discover()
    (site / "openenv_cave_env-1.0.dist-info" / "METADATA").unlink()
    assert "cave" not in installed()
    reset_discovery()
    get_discovery().clear_cache()


def test_broken_packages_hide_no_other(site: Path) -> None:
    install(site, "openenv-cavern-env", "cavern_env", prefix="Cavern")
    (site / "nothing-1.0.dist-info").mkdir()
    nameless = site / "nameless-1.0.dist-info"
    nameless.mkdir()
    (nameless / "METADATA").write_text("Metadata-Version: 2.1\nVersion: 1.0\n")
    binary = site / "openenv_binary-1.0.dist-info"
    binary.mkdir()
    (binary / "METADATA").write_bytes(b"\xff\xfe\x00")
    entries = {"entry_points.txt": "[openenv.environments\nbroken"}
    install(site, "openenv-broken-env", "broken_env", prefix="Broken", metadata=entries)
    install(site, "openenv-nowhere-env", "")
    assert "cavern" in installed()
    assert "nowhere" not in installed()


def test_underscores_and_repeated_words_are_names_like_any_other(site: Path) -> None:
    install(site, "openenv_snake_case_env", "snake_case_env", prefix="SnakeCase")
    install(site, "openenv-my-environment-env", "my_environment_env", prefix="MyEnvironment")
    assert find("snake_case").get_client_class().__name__ == "SnakeCaseEnv"
    assert find("my_environment").client_class_name == "MyEnvironmentEnv"
    assert key_of("env") == "env"


def test_a_package_that_is_only_called_alike_is_none(site: Path) -> None:
    install(site, "openenv-tools", "tools", files={"things.py": ""})
    assert "tools" not in installed()


def test_an_entry_point_names_an_environment_in_any_package(site: Path) -> None:
    entries = {
        "entry_points.txt": "[openenv.environments]\nchess = boardgames\n"
        "draughts_env = boardgames.draughts:Player\nlost = nowhere\n"
        "go = boardgames.stones:GoEnv\nlost_too = boardgames.nowhere:X\n"
    }
    directory = install(site, "boardgames", "boardgames", prefix="Chess", metadata=entries)
    (directory / "draughts").mkdir()
    (directory / "draughts" / "__init__.py").write_text(
        CLIENT.format(prefix="Draughts") + "\nPlayer = DraughtsEnv\n"
    )
    (directory / "stones.py").write_text(CLIENT.format(prefix="Go"))
    assert find("go").get_client_class().__name__ == "GoEnv"
    assert find("go").get_action_class().__name__ == "GoAction"
    assert find("chess").get_client_class().__name__ == "ChessEnv"
    assert find("draughts").get_client_class().__name__ == "DraughtsEnv"
    assert find("draughts").package_name == "boardgames"
    assert find("draughts").get_action_class().__name__ == "DraughtsAction"
    assert {"lost", "lost_too"} & installed().keys() == set()


def test_one_that_says_it_twice_is_listed_once(site: Path) -> None:
    entries = {"entry_points.txt": "[openenv.environments]\nlabyrinth = cavern_env\n"}
    install(site, "openenv-cavern-env", "cavern_env", prefix="Cavern", metadata=entries)
    found = [e.env_key for e in installed().values() if e.package == "cavern_env"]
    assert found == ["labyrinth"]


def test_the_manifest_names_its_classes_or_the_client_does(site: Path) -> None:
    named = "name: cavern_env\naction: Walk\nobservation: Room\n"
    client = (
        "from openenv import Action, EnvClient, Observation, State\n"
        "class Walk(Action): pass\nclass Room(Observation): pass\n"
        "class Explorer(EnvClient[Walk, Room, State]): pass\n"
    )
    install(
        site, "openenv-cavern-env", "cavern_env", files={"openenv.yaml": named, "client.py": client}
    )
    install(site, "openenv-cave-env", "cave_env", files={"client.py": client})
    assert find("cavern").get_action_class().__name__ == "Walk"
    for name in ("cavern", "cave"):
        environment = find(name)
        assert environment.get_client_class().__name__ == "Explorer"
        assert environment.get_action_class().__name__ == "Walk"
        assert environment.get_observation_class().__name__ == "Room"


def test_a_broken_manifest_is_told_and_the_rest_goes_by_custom(site: Path) -> None:
    files = {"openenv.yaml": "name: [unclosed\n"}
    install(site, "openenv-cavern-env", "cavern_env", prefix="Cavern", files=files)
    found = find("cavern")
    assert found.problem is not None
    assert "openenv.yaml:" in found.problem
    assert found.get_client_class().__name__ == "CavernEnv"


@pytest.mark.parametrize("code", ["import nothing_of_the_kind", "raise ValueError('no')", "x = ("])
def test_what_cannot_be_imported_says_so(site: Path, code: str) -> None:
    install(site, "openenv-cavern-env", "cavern_env", files={"client.py": code})
    with pytest.raises(ImportError, match="openenv-cavern-env is installed, but cavern_env.client"):
        find("cavern").get_client_class()


def test_a_client_with_two_names_is_one(site: Path) -> None:
    code = CLIENT.format(prefix="Labyrinth") + "\nMazeClient = LabyrinthEnv\n"
    install(site, "openenv-cavern-env", "cavern_env", files={"client.py": code})
    assert find("cavern").get_client_class().__name__ == "LabyrinthEnv"


def test_what_has_no_client_says_so(site: Path) -> None:
    install(site, "openenv-cavern-env", "cavern_env", files={"client.py": ""})
    with pytest.raises(ImportError, match="no class CavernEnv, and no other client"):
        find("cavern").get_client_class()


def test_an_unknown_name_is_answered_with_those_like_it(site: Path) -> None:
    install(site, "openenv-cavern-env", "cavern_env", prefix="Cavern")
    with pytest.raises(ConfigurationError, match=r"Did you mean: cavern"):
        find("caverm")
    with pytest.raises(ValueError, match="Unknown environment 'zzzzzz'"):
        find("zzzzzz")
    assert get_discovery().get_environment_by_name("zzzzzz") is None
    assert get_discovery().get_environment("cavern") == find("cavern")
