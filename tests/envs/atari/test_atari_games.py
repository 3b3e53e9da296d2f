"""The games there are: their names, and that each can be played."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ale_py", reason="pip install -e 'envs/atari_env[dev]'")

from atari_env import AtariAction, games
from atari_env.options import AtariOptions
from atari_env.server import AtariEnvironment
from openenv import ConfigurationError, InvalidRequest

GAMES = games.games()


@pytest.mark.parametrize("game", GAMES)
def test_every_game_can_be_played(game: str) -> None:
    environment = AtariEnvironment(game, obs_type="ram")
    first = environment.reset(seed=1)
    assert first.screen.shape == (128,)
    played = environment.step(AtariAction(action_id=first.legal_actions[-1]))
    assert played.metadata["game_name"] == game
    assert (played.frame_number, played.done) == (first.frame_number + 4, False)
    environment.close()


def test_there_are_as_many_games_as_one_player_can_play() -> None:
    assert len(GAMES) > 100
    assert {"pong", "breakout", "space_invaders", "tic_tac_toe_3d"} <= set(GAMES)
    assert list(GAMES) == sorted(GAMES)
    assert "joust" not in GAMES


@pytest.mark.parametrize(
    "name",
    [
        "space_invaders",
        "ALE/SpaceInvaders-v5",
        "SpaceInvaders-v4",
        "SpaceInvadersNoFrameskip-v4",
        "SpaceInvadersDeterministic-v0",
        "SpaceInvaders-ram-v4",
        "SpaceInvaders-ramNoFrameskip-v4",
        "Space Invaders",
        "space-invaders",
    ],
)
def test_a_game_goes_by_several_names(name: str) -> None:
    assert games.rom_id(name) == "space_invaders"


def test_every_id_of_gymnasium_s_names_its_game() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    import ale_py

    gymnasium.register_envs(ale_py)
    ids = {
        spec.id: spec.kwargs["game"]
        for spec in gymnasium.registry.values()
        if str(spec.entry_point).startswith("ale_py.env:")
    }
    assert len(ids) > 100
    assert {name: games.rom_id(name) for name in ids} == ids


@pytest.mark.parametrize("name", ["ponk", "ALE/Ponk-v5", "../pong", "pong.bin", "\u202epong"])
def test_an_unknown_game_is_told_similar_ones(name: str) -> None:
    environment = AtariEnvironment("breakout", obs_type="ram")
    environment.reset(seed=1)
    with pytest.raises(InvalidRequest, match="pong") as refusal:
        environment.reset(game_name=name)
    (fault,) = refusal.value.errors
    assert fault["loc"] == ["game_name"]
    assert fault["msg"].startswith(f"there is no game {name!r}; did you mean ")
    assert environment.step(AtariAction(action_id=0)).metadata["game_name"] == "breakout"


@pytest.mark.parametrize("name", ["", "joust", "\x00", "💥" * 100, "v5", "ALE/-v5"])
def test_what_is_no_game_at_all_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"there are {len(GAMES)}, such as breakout"):
        games.rom_id(name)


def test_a_server_s_variable_for_no_game_says_which_variable() -> None:
    with pytest.raises(ConfigurationError, match=r"ATARI_GAME: .*there is no game 'ponk'"):
        AtariOptions.from_variables({"ATARI_GAME": "ponk"})


def test_the_engine_that_is_missing_is_told_how_to_get() -> None:
    code = (
        "import sys; sys.modules['ale_py'] = None; import atari_env\n"
        "try: import atari_env.server\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=15
    )
    assert "pip install 'openenv-atari-env[server]'" in run.stdout


def test_the_emulator_prints_nothing(tmp_path: Path) -> None:
    code = (
        "from atari_env.server import AtariEnvironment as Atari\n"
        "atari = Atari('adventure', obs_type='ram')\n"
        "atari.reset(seed=1, mode=2)\n"
        "try: atari.reset(mode=9)\n"
        "except ValueError: pass\n"
        "except Exception as error: assert 'no mode 9' in str(error), error\n"
        "atari.close()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        timeout=15,
        cwd=tmp_path,
    )
    assert run.stdout + run.stderr == ""
    assert list(tmp_path.iterdir()) == []
