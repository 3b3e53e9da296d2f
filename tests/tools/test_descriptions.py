"""What an environment's docstring says of it, to people and to agents; and its tools, to people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openenv import Environment, Observation, tool
from openenv.cli.__main__ import app
from openenv.env.metadata import description_of
from openenv.testing import ModelServer, Reply
from tests.server.mcp.rpc import Agent
from tests.serving import Served, serving
from tests.tools import tools_only
from tests.tools.tools_only import Game, OverMcp, Shop

ABOUT = "Buy what is on the list.\n\nPay as little as you can."


@pytest.fixture
def shop() -> Iterator[Served]:
    with serving(Shop) as server:
        yield server


class Sold(Shop):
    pass


class Sectioned(Game):
    """Looks.

    Attributes:
        hidden: of nobody's concern.
    """


@dataclass
class Plain(Environment):
    size: int = 3

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def look(self) -> str:
        return "nothing"


@pytest.mark.parametrize(
    ("made", "about"),
    [(Shop, ABOUT), (Sold, ABOUT), (Sectioned, "Looks."), (Game, None), (Plain, None)],
)
def test_a_description_is_the_author_s_own(made: type[Any], about: str | None) -> None:
    assert description_of(made) == about
    with serving(made) as server:
        card = server.http("GET", "/metadata").json()
    assert card["description"] == (about or f"{card['name']} environment")


def test_an_agent_is_told_what_it_is_and_then_what_it_sees(shop: Served) -> None:
    agent = Agent(shop)
    assert agent.welcome["instructions"] == ABOUT
    agent.leave()
    with serving(Sectioned) as server:
        agent = Agent(server)
        first, _, then = agent.welcome["instructions"].partition("\n\n")
        assert (first, then.endswith('first observation: {"cells":[0,0,0]}')) == ("Looks.", True)
        agent.leave()
    with serving(Game) as server:
        agent = Agent(server)
        assert agent.welcome["instructions"].startswith("An episode has begun")
        agent.leave()


def _info(target: str) -> str:
    run = CliRunner().invoke(app, ["info", target])
    assert run.exit_code == 0, (run.output, run.exception)
    return run.output


TOOLS = """
tools
  price(item: string)  What an item costs.
  buy(item: 'tea' | 'cake', amount: integer = 1)  Puts an item into the basket.
  check_out()  Pays, and ends the episode.
"""


@pytest.mark.parametrize("where", ["module", "file", "url"])
def test_info_shows_what_it_is_and_its_tools(shop: Served, where: str) -> None:
    file = Path(tools_only.__file__)
    targets = {
        "module": "tests.tools.tools_only:Shop",
        "file": f"{file}:Shop",
        "url": f"http://127.0.0.1:{shop.port}",
    }
    shown = _info(targets[where])
    assert TOOLS in shown
    assert "  Buy what is on the list.\n\n  Pay as little as you can.\n" in shown


def test_info_shows_tools_that_an_instance_lists() -> None:
    assert "\ntools\n  look()  Looks.\n" in _info("tests.tools.tools_only:OverMcp")
    with serving(OverMcp) as server:
        assert "\ntools\n  look()  Looks.\n" in _info(f"http://127.0.0.1:{server.port}")


def test_what_info_advises_for_a_server_of_tools_is_a_call_that_works(shop: Served) -> None:
    _, _, program = _info(f"http://127.0.0.1:{shop.port}").partition("Use it:\n")
    seen: dict[str, Any] = {}
    exec("\n".join(line[2:] for line in program.splitlines()), seen)
    assert seen["result"].observation["tool_name"] == "price"


def test_a_model_that_plays_is_told_what_it_is(shop: Served, tmp_path: Path) -> None:
    with ModelServer(Reply("I am done.")) as model:
        url = f"http://127.0.0.1:{shop.port}"
        command = ["collect", "shop", "--base-url", url, "-o", str(tmp_path), "-n", "1"]
        player = ["--provider", "openai", "--model", "m", "--llm-endpoint", model.url]
        run = CliRunner().invoke(app, [*command, *player])
        assert run.exit_code == 0, (run.output, run.exception)
        asked = model.requests[0].body["messages"]
    assert asked[0]["content"].endswith(ABOUT)
