"""An episode: days of trading, one after the other, and what became of the money."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from finrl_env.metrics import metrics
from finrl_env.options import FinRLOptions
from finrl_env.orders import engine_for
from finrl_env.trading import worth


class Episode:
    """An account on a market, from its first day to its last.

    On the last day there is no next price to trade for: the call that is made there does nothing
    and ends the episode, as in FinRL.

    Attributes:
        seed: what settles a synthetic market.
        tape: the market.
        vector: the current state.
        values: the portfolio's value on each day so far.
        filled: the shares bought of each stock by the last action; negative are sold ones.
        done: whether the episode is over.
    """

    def __init__(self, options: FinRLOptions, seed: int) -> None:
        self.seed = seed
        self.options = options
        self.tape, self._engine = engine_for(options, seed)
        self.vector = self._engine.vector
        self.values = [self._worth()]
        self.filled = [0.0] * len(self.tape.tickers)
        self.done = False
        self._reward = 0.0

    @property
    def day(self) -> int:
        """The number of the day."""
        return self._engine.day

    @property
    def date(self) -> str:
        """The day."""
        return self.tape.dates[self.day]

    @property
    def value(self) -> float:
        """What the portfolio is worth."""
        return self.values[-1]

    @property
    def holdings(self) -> list[float]:
        """The shares held of each stock."""
        stocks = len(self.tape.tickers)
        return self.vector[stocks + 1 : 2 * stocks + 1]

    def fault(self, actions: Sequence[float]) -> str | None:
        """What is wrong with an action, and what would be right; `None` if nothing is."""
        stocks = len(self.tape.tickers)
        if len(actions) != stocks:
            return f"nothing was traded: {stocks} numbers were expected, got {len(actions)}"
        for ticker, action in zip(self.tape.tickers, actions, strict=True):
            if not math.isfinite(action):
                wanted = f"a number in [-1, 1] was expected for {ticker}"
                return f"nothing was traded: {wanted}, got {action}"
        return None

    def trade(self, actions: Sequence[float]) -> float:
        """Trades for a day; the reward of it.

        Args:
            actions: a number for each stock, without a `fault`.
        """
        if self.day >= len(self.tape) - 1:
            self.done = True
            self.filled = [0.0] * len(self.filled)
            return self._reward if self.options.compat else 0.0
        if self.options.clip:
            actions = [min(1.0, max(-1.0, action)) for action in actions]
        held, before = self.holdings, self.value
        self._engine.trade(actions)
        self.vector = self._engine.vector
        self.filled = [now - then for now, then in zip(self.holdings, held, strict=True)]
        self.values.append(self._worth())
        self._reward = (self.value - before) * self.options.reward_scaling
        return self._reward

    def metrics(self) -> dict[str, Any]:
        """How the portfolio has done so far."""
        engine = self._engine
        return metrics(self.values) | {"trades": engine.trades, "costs": float(engine.costs)}

    def _worth(self) -> float:
        return worth(self.vector, len(self.tape.tickers))
