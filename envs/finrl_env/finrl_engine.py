"""FinRL's own environment as an engine: option `engine="finrl"`, of the server alone.

It needs the package `finrl`, and so PyTorch, gigabytes, which are imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from finrl_env.options import FinRLOptions
from finrl_env.tape import Tape
from finrl_env.trading import Funds, Terms
from openenv import InvalidRequest, needs

QUIET = 10**9


def stock_trading_env() -> tuple[Any, Any]:
    """FinRL's class, and pandas, which it takes prices in.

    Raises:
        MissingPackage: one is not installed.
    """
    with needs("finrl==0.3.7"):
        import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]
        from finrl.meta.env_stock_trading.env_stocktrading import (  # type: ignore[import-not-found,unused-ignore]
            StockTradingEnv,
        )
    return StockTradingEnv, pandas


class FinRLEngine:
    """An account that FinRL keeps.

    It begins a single stock without shares, counts orders that cash does not suffice for as trades,
    and needs an indicator at least. Its `reset` is never called, since that forgets `day`.
    """

    def __init__(self, tape: Tape, terms: Terms, funds: Funds, options: FinRLOptions) -> None:
        if not tape.indicators:
            raise InvalidRequest(
                "FinRL's engine needs an indicator in tech_indicator_list, got none"
            )
        made, pandas = stock_trading_env()
        stocks, names = len(tape.tickers), list(tape.indicators)
        self._env = made(
            df=_frame(tape, options.risk_indicator_col, pandas),
            stock_dim=stocks,
            hmax=terms.hmax,
            initial_amount=options.initial_amount,
            num_stock_shares=[int(shares) for shares in funds.shares],
            buy_cost_pct=list(terms.buy_costs),
            sell_cost_pct=list(terms.sell_costs),
            reward_scaling=options.reward_scaling,
            state_space=1 + stocks * (2 + len(names)),
            action_space=stocks,
            tech_indicator_list=names,
            turbulence_threshold=terms.threshold,
            risk_indicator_col=options.risk_indicator_col,
            make_plots=options.make_plots,
            print_verbosity=options.print_verbosity,
            day=options.day,
            initial=options.initial,
            previous_state=list(options.previous_state),
            model_name=options.model_name,
            mode=options.mode,
            iteration=options.iteration,
        )

    @property
    def day(self) -> int:
        """The number of the day on the tape."""
        return int(self._env.day)

    @property
    def trades(self) -> int:
        """How many orders FinRL has counted."""
        return int(self._env.trades)

    @property
    def costs(self) -> float:
        """What they have cost beside the shares' price."""
        return float(self._env.cost)

    @property
    def vector(self) -> list[float]:
        """Cash, prices, holdings and indicators."""
        return [float(number) for number in self._env.state]

    def trade(self, actions: Sequence[float]) -> None:
        """Trades for a day, and goes on to the next."""
        self._env.step(np.array(actions, float))


def _frame(tape: Tape, risk: str, pandas: Any) -> Any:
    """A row for each day and stock, which the number of the day is the index of."""
    days, stocks = tape.close.shape
    columns: dict[str, Any] = {
        "date": np.repeat(tape.dates, stocks),
        "tic": np.tile(tape.tickers, days),
        "close": tape.close.ravel(),
    }
    for place, name in enumerate(tape.indicators):
        columns[name] = tape.signals[:, place * stocks : (place + 1) * stocks].ravel()
    if tape.risk is not None:
        columns[risk] = np.repeat(tape.risk, stocks)
    return pandas.DataFrame(columns, index=np.repeat(np.arange(days), stocks))
