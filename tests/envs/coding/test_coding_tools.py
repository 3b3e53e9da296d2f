"""CodeAct: tools as functions in the hands of an agent's code."""

import math
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel

from coding_env import CodeAction, CodingEnv
from coding_env.server.coding_environment import PythonCodeActEnv
from openenv import local
from openenv.env.tools import ToolFailure, tool
from openenv.executor import Inside


class Order(BaseModel):
    """What was ordered."""

    item: str
    amount: int = 1


class Shop(PythonCodeActEnv):
    """An environment of code with tools of its own."""

    def __init__(self) -> None:
        super().__init__(tools={"root": Inside(math.sqrt)})
        self._orders: list[Order] = []

    @tool
    def order(self, order: Order, due: date) -> Order:
        """Orders something.

        Args:
            order: what.
            due: when.
        """
        if order.item == "tea":
            raise ToolFailure("there is no tea")
        assert isinstance(due, date)
        self._orders.append(order)
        return order

    @tool
    async def ordered(self) -> int:
        """How many things were ordered."""
        return sum(order.amount for order in self._orders)


@pytest.fixture
def shop() -> Any:
    with local(Shop, client_class=CodingEnv).sync() as env:
        yield env


def run(env: Any, code: str) -> Any:
    return env.step(CodeAction(code=code)).observation


def test_one_cell_loops_over_calls(shop: Any) -> None:
    assert "order()" in shop.reset().observation.text
    seen = run(
        shop,
        "for n in range(4):\n    last = order({'item': 'cake', 'amount': n}, due='2030-01-02')\n"
        "last, ordered(), root(16)",
    )
    assert seen.value == '[{"item": "cake", "amount": 3}, 6, 4.0]'


def test_errors_are_raised_in_the_code(shop: Any) -> None:
    shop.reset()
    assert (
        "TypeError: invalid arguments for tool 'order': due"
        in run(shop, "order({'item': 'a'})").stderr
    )
    code = (
        "try:\n    order({'item': 'tea'}, '2030-01-02')\n"
        "except Exception as error:\n    told = str(error)\ntold"
    )
    assert run(shop, code).value == '"there is no tea"'
    assert run(shop, "ordered()").value == "0"


def test_help_tells_what_an_agent_is_told(shop: Any) -> None:
    shop.reset()
    told = run(shop, "help(order)").stdout
    assert "order(order: Order, due: str)" in told
    assert "Orders something." in told
    assert "due: when." in told
