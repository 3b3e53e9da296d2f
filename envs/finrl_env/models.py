"""What a trader does and sees."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from openenv import Action, Observation, State

MOST_STOCKS = 1024
"""As many stocks as a market may have, and numbers as an action may."""


class FinRLAction(Action):
    """What is to be traded of each stock.

    Attributes:
        actions: a number in [-1, 1] for each stock, in the order of `tickers`: 1 buys `hmax`
            shares, -1 sells as many; fractions of a share are dropped.
    """

    actions: list[float] = Field(max_length=MOST_STOCKS)


class FinRLObservation(Observation):
    """The account and the market at the close of a day. Money is in the currency of the prices.

    Attributes:
        state: `[cash, N closing prices, N holdings, N values of the 1st indicator, of the 2nd, …]`.
        portfolio_value: cash and holdings at the day's prices.
        date: the day, as the price table writes it.
        tickers: the stocks' names, in the order of every N numbers.
        text: all of it in lines for a language model.
    """

    state: list[float]
    portfolio_value: float = 0.0
    date: str = ""
    tickers: list[str] = Field(default_factory=list)
    text: str = ""


class FinRLState(State):
    """Where an episode stands.

    Attributes:
        seed: what settles the episode.
        day: the number of the day, from 0.
        days: how many days the episode has.
        portfolio_value: cash and holdings at the day's prices.
        finished: whether the episode is over.
        metrics: how the portfolio has done so far, as at the end in `metadata["metrics"]`.
    """

    seed: int | None = None
    day: int = 0
    days: int = 0
    portfolio_value: float = 0.0
    finished: bool = False
    metrics: dict[str, Any] = Field(default_factory=dict)


class FinRLConfig(TypedDict):
    """What a server trades unless a reset asks for something else."""

    stock_dim: int
    initial_amount: int | float
    action_space: int
    state_space: int
    tech_indicators: list[str]
