"""What an environment can be told by variables and by `reset`."""

from typing import Any, Literal

import pytest
from pydantic import Field, field_validator, model_validator
from typing_extensions import Self

from openenv import ConfigurationError, InvalidRequest, Options, needs
from openenv.protocol.extras import MissingPackage


class Rules(Options, variables="GAME_"):
    opponent: Literal["random", "none"] = "random"
    depth: int = Field(default=2, ge=1, le=8)
    openings: list[str] = []
    ranked: bool = False
    handicap: float | None = None

    @model_validator(mode="after")
    def _an_opponent_is_needed(self) -> Self:
        if self.ranked and self.opponent == "none":
            raise ValueError("ranked games need an opponent")
        return self


def test_variables_give_what_they_name_and_defaults_the_rest() -> None:
    variables = {"GAME_DEPTH": "3", "GAME_OPENINGS": '["e4"]', "GAME_RANKED": "true", "DEPTH": "9"}
    rules = Rules.from_variables(variables)
    assert rules == Rules(depth=3, openings=["e4"], ranked=True)


def test_an_empty_variable_is_none() -> None:
    assert Rules.from_variables({"GAME_DEPTH": ""}) == Rules()


def test_the_variables_are_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAME_HANDICAP", "0.5")
    assert Rules.from_variables().handicap == 0.5


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"GAME_DEPTH": "deep"}, "GAME_DEPTH: Input should be a valid integer"),
        ({"GAME_OPPONENT": "rnd"}, "GAME_OPPONENT: Input should be 'random' or 'none'"),
        ({"GAME_HANDICAP": "nan"}, "GAME_HANDICAP: Input should be a finite number"),
        ({"GAME_OPENINGS": "[e4"}, "GAME_OPENINGS: Input should be a valid list"),
    ],
)
def test_a_wrong_variable_is_named(variables: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigurationError, match="got ") as caught:
        Rules.from_variables(variables)
    assert str(caught.value).startswith(told)


def test_a_variable_that_nothing_reads_is_taken_for_one_alike() -> None:
    variables = {"GAME_OPONENT": "none", "GAME_DEPTH": "3", "GAME_OPTION": "/", "OPONENT": "none"}
    assert Rules.misspelled(variables) == {"GAME_OPONENT": "GAME_OPPONENT"}


def test_options_without_a_prefix_misread_nothing() -> None:
    class Bare(Options):
        path_a: str = ""

    assert Bare.misspelled({"PATH": "/bin", "PATH_AA": "x"}) == {}


def test_a_reset_changes_a_copy() -> None:
    rules = Rules(depth=3)
    assert rules.updated({"opponent": "none", "depth": None}) == Rules(opponent="none", depth=3)
    assert rules == Rules(depth=3)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"oponent": "none"}, "no option 'oponent'; did you mean opponent?"),
        ({"zzz": 1}, "no option 'zzz'; there are opponent, depth,"),
        ({"depth": 99}, "depth: Input should be less than or equal to 8, got 99"),
        ({"ranked": True, "opponent": "none"}, "ranked games need an opponent"),
        ({"openings": "a" * 500}, "..."),
    ],
)
def test_a_wrong_reset_is_refused_and_told(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        Rules().updated(changes)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_fault_is_told_at_its_option_once() -> None:
    with pytest.raises(InvalidRequest) as caught:
        Rules().updated({"depth": 99, "oponent": "none"})
    wrong, unknown = caught.value.errors
    assert (wrong["loc"], wrong["msg"]) == (
        ["depth"],
        "Input should be less than or equal to 8, got 99",
    )
    assert (unknown["loc"], unknown["msg"]) == ([], "no option 'oponent'; did you mean opponent?")


def test_what_a_validator_tells_of_what_it_received_is_not_told_again() -> None:
    class Picky(Options):
        name: str = ""

        @field_validator("name")
        @classmethod
        def _exists(cls, name: str) -> str:
            raise ValueError(f"there is no {name!r}")

    with pytest.raises(InvalidRequest) as caught:
        Picky().updated({"name": "x"})
    assert caught.value.message == "reset does not take that: name: there is no 'x'"


def test_a_contradiction_is_told_without_what_others_have_set() -> None:
    contradiction = "ranked games need an opponent"
    with pytest.raises(InvalidRequest) as caught:
        Rules(openings=["secret"], opponent="none").updated({"ranked": True})
    assert caught.value.message == f"reset does not take that: {contradiction}"
    with pytest.raises(ConfigurationError) as wrong:
        Rules.from_variables({"GAME_RANKED": "1", "GAME_OPPONENT": "none"})
    assert str(wrong.value) == contradiction


def test_a_missing_package_says_how_to_get_it() -> None:
    with (
        pytest.raises(MissingPackage, match=r"pip install 'openenv-game-env\[server\]'") as caught,
        needs("openenv-game-env[server]"),
    ):
        import no_such_engine.board  # type: ignore[import-not-found]  # noqa: F401
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == "no_such_engine"
