"""A server's variables: those of its environment's options are read when it starts."""

import functools
import logging
from typing import Any

import pytest

from openenv import Action, ConfigurationError, Environment, Observation, Options
from openenv.server.app import create_app, create_fastapi_app


class GameOptions(Options, variables="GAME_"):
    """What the game can be told."""

    opponent: str = "none"
    size: int = 3


class Game(Environment[Action, Observation]):
    """A game that can be told something."""

    OPTIONS = GameOptions

    def reset(self, **options: Any) -> Observation:
        return Observation()

    def step(self, action: Action) -> Observation:
        return Observation()


@pytest.mark.parametrize("make", [create_app, create_fastapi_app])
@pytest.mark.parametrize("env", [Game, functools.partial(Game), Game()])
def test_a_wrong_variable_is_told_when_the_app_is_made(
    make: Any, env: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAME_SIZE", "x")
    with pytest.raises(ConfigurationError, match=r"^GAME_SIZE: .* got 'x'$"):
        make(env)


def test_a_variable_that_is_spelt_almost_right_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GAME_OPONENT", "random")
    monkeypatch.setenv("GAME_HOME", "/somewhere")
    with caplog.at_level(logging.WARNING, "openenv.server"):
        create_app(Game)
    assert caplog.messages == ["GAME_OPONENT has no effect; did you mean GAME_OPPONENT?"]
