"""`config.json`: what the page is told of a server, without any environment being built."""

import math
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

import openenv
from blackjack_env.server.blackjack_environment import BlackJackEnvironment
from openenv import Environment, Options
from openenv.server.app import create_app
from openenv.server.calls import Calls
from openenv.server.info import Card
from openenv.server.web.config import Configuration
from openenv.server.web.options import Served as Facts
from openenv.server.web.options import WebOptions
from openenv.server.web.resets import reset_schema
from tests.server.worlds import Do, Saw, World
from tests.serving import Served, serving
from textarena_env.server.textarena_environment import TextArenaEnvironment


def config(served: Served) -> dict[str, Any]:
    answer = served.http("GET", "/web/config.json")
    assert answer.status == 200
    told: dict[str, Any] = answer.json()
    return told


class Unbuilt(Environment[Do, Saw]):
    """Whose instances would be noticed."""

    def __init__(self) -> None:
        raise AssertionError("an environment was built")

    def reset(self) -> Saw:
        return Saw()

    def step(self, action: Do) -> Saw:
        return Saw()


def test_it_says_what_the_server_is() -> None:
    with serving(Unbuilt, web=True) as served:
        assert config(served) == {
            "version": openenv.__version__,
            "mode": "simulation",
            "watch": False,
            "needs_token": False,
            "target": None,
            "custom": None,
            "reset": config(served)["reset"],
            "python": None,
            "tools": False,
            "chat": False,
        }
        assert served.active() == 0


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({}, False),
        ({"token": "word"}, True),
        ({"control_token": "control"}, True),
        ({"mode": "production"}, False),
        ({"mode": "production", "control_token": "control"}, True),
        ({"control_token": "control", "allow_agent_control": True}, False),
    ],
)
def test_it_says_whether_a_token_opens_more(options: dict[str, Any], needed: bool) -> None:
    with serving(World, web=True, **options) as served:
        assert config(served)["needs_token"] is needed


def test_it_says_whether_sessions_can_be_watched() -> None:
    with serving(World, web=True, watch_token="w") as served:
        assert config(served)["watch"] is True


async def test_it_names_a_page_of_the_authors_own() -> None:
    server = create_app(World).state.openenv
    card = Card(server.spec, server.sessions.hosts, None)
    served = Facts(server.spec, server.sessions, card, server.authority, Calls())
    options = WebOptions(builder=print, tab_name="Board", tab_primary=True)
    custom = {"name": "Board", "path": "custom/", "primary": True, "only": False}
    assert (await Configuration(served, options).read())["custom"] == custom


def test_it_names_what_a_program_imports() -> None:
    with serving(BlackJackEnvironment, web=True) as served:
        assert config(served)["python"] == {
            "module": "blackjack_env",
            "client": "BlackJackEnv",
            "action": "BlackJackAction",
        }


def test_a_factory_need_not_say_what_it_makes() -> None:
    def black_jack() -> Any:
        return BlackJackEnvironment()

    with serving(black_jack, web=True) as served, serving(BlackJackEnvironment, web=True) as known:
        assert config(served) == config(known)


def test_a_chat_is_told_by_its_classes() -> None:
    with serving(TextArenaEnvironment, web=True) as served:
        assert config(served)["chat"] is True


class Bounds(BaseModel):
    """How large it is."""

    width: int = 3


class WorldOptions(Options, variables="WEBWORLD_"):
    opponent: Literal["random", "none"] = "random"
    key: str = "none"


class Told(Environment[Do, Saw]):
    OPTIONS = WorldOptions

    def reset(
        self,
        seed: int | None = None,
        bounds: Bounds | None = None,
        lives: int = 3,
        patience: float = math.inf,
        where: Path = Path("/nowhere"),
        odd: Any = print,
        **options: Any,
    ) -> Saw:
        """Begins.

        Args:
            seed: of chance.
            bounds: of the world.
            lives: how many there are.
            patience: how long.
            where: a place.
            odd: something that no JSON can say.
            **options: those of `WorldOptions`.
        """
        return Saw()

    def step(self, action: Do) -> Saw:
        return Saw()


def test_a_reset_is_told_by_its_signature_and_its_options() -> None:
    schema = reset_schema(Told)
    told = schema["properties"]
    assert list(told) == [
        "seed",
        "episode_id",
        "bounds",
        "lives",
        "patience",
        "where",
        "odd",
        "opponent",
        "key",
    ]
    assert told["bounds"]["anyOf"][0] == {"$ref": "#/$defs/Bounds"}
    assert schema["$defs"]["Bounds"]["properties"]["width"]["default"] == 3
    assert told["lives"]["description"] == "how many there are."
    assert told["lives"]["default"] == 3
    assert "default" not in told["odd"]
    assert told["opponent"]["enum"] == ["random", "none"]
    assert schema["additionalProperties"] is False
    assert "required" not in schema


def test_it_is_json_as_browsers_read_it() -> None:
    with serving(Told, web=True) as served:
        body = served.http("GET", "/web/config.json").body
    assert b"Infinity" not in body
    assert b"NaN" not in body


def test_what_a_variable_says_stays_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBWORLD_KEY", "secret-word")
    with serving(Told, web=True) as served:
        told = config(served)["reset"]["properties"]
    assert "default" not in told["key"]
    assert told["opponent"]["default"] == "random"
    assert "secret-word" not in str(told)


class Needy(Environment[Do, Saw]):
    def reset(self, level: int) -> Saw:
        return Saw()

    def step(self, action: Do) -> Saw:
        return Saw()


def test_a_keyword_without_a_default_is_required() -> None:
    schema = reset_schema(Needy)
    assert list(schema["properties"]) == ["episode_id", "level"]
    assert schema["required"] == ["level"]
    assert schema["additionalProperties"] is False


def test_of_an_unknown_class_any_keyword_is_taken() -> None:
    schema = reset_schema(None)
    assert list(schema["properties"]) == ["seed", "episode_id"]
    assert schema["additionalProperties"] is True
