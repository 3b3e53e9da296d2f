"""What a trading environment can be told: the arguments of FinRL's, and ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveFloat, ValidationError, model_validator
from typing_extensions import Self

from finrl_env.models import MOST_STOCKS
from openenv import InvalidRequest, Options, errors

MOST_DAYS = 10_000
USUAL_DAYS = 100
MOST_NUMBERS = 1_250_000
"""Prices and indicators of a market that a reset may have made."""

MOST_CONFIG_BYTES = 1 << 20

Market = Literal["sine", "sample", "synthetic", "file"]
Cost = Annotated[float, Field(ge=0, lt=1)]
Shares = Annotated[int, Field(ge=0, le=10**9)]
Name = Annotated[str, Field(min_length=1, max_length=64)]

SERVER_ONLY = frozenset(
    {
        "config_path",
        "data_path",
        "engine",
        "log_level",
        "make_plots",
        "print_verbosity",
        "model_name",
        "mode",
        "iteration",
    }
)
"""What reads or writes the server's files, or loads code there: no business of a client's."""


class FinRLOptions(Options, variables="FINRL_"):
    """Options of an episode, under the names of FinRL's `StockTradingEnv` where it has one.

    Attributes:
        market: `sine` is one smooth wave a stock, `sample` the table in this package, `synthetic` a
            market that is made anew for each seed, `file` the one at `data_path`. By default a
            file if there is one, else `sine`.
        data_path: a price table, CSV or Parquet.
        config_path: a JSON file with any of these options; variables override it.
        stock_dim: how many stocks are made; of a table, how many it must have.
        days: how many days are made, by default 100; of a table, how many there are at most.
        start_date: the episode's first day or later, `YYYY-MM-DD`.
        end_date: the day before which it ends.
        day: the number of the day that the episode begins with.
        hmax: the most shares of a stock that are traded in a day.
        initial_amount: the cash to begin with.
        num_stock_shares: the shares to begin with, for each stock or for all alike.
        buy_cost_pct: a purchase's cost as a part of its price, for each stock or for all alike.
        sell_cost_pct: likewise of a sale.
        reward_scaling: what a gain is multiplied by to be a reward.
        tech_indicator_list: columns of the table, or indicators that are computed.
        turbulence_threshold: all is sold, and nothing bought, while the risk is at least this.
        risk_indicator_col: the column that says the risk; without one, `turbulence` is computed.
        initial: `False` begins with the account of `previous_state`.
        previous_state: a `state` of an earlier episode with as many stocks.
        state_space: how many numbers a state has; checked, if it is given.
        action_space: how many an action has; checked, if it is given.
        clip: numbers beyond [-1, 1] count as -1 or 1.
        compat: what FinRL does, and we do not: the last reward is paid twice, a single stock begins
            without shares, equal orders are ranked by the processor.
        engine: `own`, or `finrl` for the class in that package.
        log_level: from which on the logger `finrl_env` writes to standard error.
        make_plots: of FinRL's engine: it draws the account.
        print_verbosity: of FinRL's engine: after how many episodes it prints one.
        model_name: of FinRL's engine: it writes files of that name.
        mode: of FinRL's engine, likewise.
        iteration: of FinRL's engine, likewise.
    """

    market: Market | None = None
    data_path: str | None = None
    config_path: str | None = None
    stock_dim: Annotated[int, Field(ge=1, le=MOST_STOCKS)] | None = None
    days: Annotated[int, Field(ge=2, le=MOST_DAYS)] | None = None
    start_date: date | None = None
    end_date: date | None = None
    day: Annotated[int, Field(ge=0)] = 0
    hmax: Annotated[int, Field(ge=1, le=10**9)] = 100
    initial_amount: Annotated[float, Field(gt=0, le=1e15)] = 100_000
    num_stock_shares: Shares | Annotated[list[Shares], Field(max_length=MOST_STOCKS)] = 0
    buy_cost_pct: Cost | Annotated[list[Cost], Field(max_length=MOST_STOCKS)] = 0.001
    sell_cost_pct: Cost | Annotated[list[Cost], Field(max_length=MOST_STOCKS)] = 0.001
    reward_scaling: Annotated[PositiveFloat, Field(le=1e6)] = 1e-4
    tech_indicator_list: Annotated[list[Name], Field(max_length=32)] = Field(
        default=["macd", "rsi_30", "cci_30", "dx_30"]
    )
    turbulence_threshold: float | None = None
    risk_indicator_col: Name = "turbulence"
    initial: bool = True
    previous_state: Annotated[list[float], Field(max_length=1 << 17)] = Field(default=[])
    state_space: int | None = None
    action_space: int | None = None
    clip: bool = True
    compat: bool = False
    engine: Literal["own", "finrl"] = "own"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] | None = None
    make_plots: bool = False
    print_verbosity: Annotated[int, Field(ge=1)] = 10
    model_name: str = ""
    mode: str = ""
    iteration: str = ""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.market == "file" and self.data_path is None:
            raise ValueError("market 'file' needs the server's FINRL_DATA_PATH, which is not set")
        columns = self.made_stocks * (1 + len(self.tech_indicator_list))
        if columns * self.made_days > MOST_NUMBERS:
            raise ValueError(
                f"{self.made_stocks} stocks on {self.made_days} days with "
                f"{len(self.tech_indicator_list)} indicators are {columns * self.made_days} "
                f"numbers, and there may be {MOST_NUMBERS} at most"
            )
        if self.start_date and self.end_date and self.start_date >= self.end_date:
            raise ValueError(
                f"start_date must be before end_date, got {self.start_date} and {self.end_date}"
            )
        if not self.initial and not self.previous_state:
            raise ValueError("initial=False needs a previous_state")
        return self

    @property
    def made_stocks(self) -> int:
        """How many stocks a market that is made has."""
        return self.stock_dim or 1

    @property
    def made_days(self) -> int:
        """How many days it has."""
        return self.days or USUAL_DAYS

    @property
    def source(self) -> Market:
        """Where the prices come from."""
        return self.market or ("file" if self.data_path else "sine")

    def for_episode(self, asked: Mapping[str, Any]) -> Self:
        """These options with those that a reset asks for.

        Raises:
            InvalidRequest: one is unknown, wrong, or the server's own.
        """
        if refused := sorted(name for name in SERVER_ONLY if asked.get(name) is not None):
            raise InvalidRequest(
                f"reset does not take {', '.join(refused)}: who runs the server sets "
                f"{', '.join(self.variable(name) for name in refused)} there"
            )
        return self.updated(asked)


def configured(options: FinRLOptions | None = None, **changes: Any) -> FinRLOptions:
    """All options that hold for a server: `changes`, over others, over those in `config_path`.

    Args:
        options: the others, by default those of the variables `FINRL_…`.
        **changes: options by name.

    Raises:
        ConfigurationError: a variable or the file is wrong.
        pydantic.ValidationError: a change is wrong.
    """
    given = FinRLOptions.from_variables() if options is None else options
    if changes:
        given = FinRLOptions.model_validate({**_said(given), **changes})
    if given.config_path is None:
        return given
    path = Path(given.config_path)
    content = _read_config(path)
    try:
        FinRLOptions.model_validate(content)
        return FinRLOptions.model_validate({**content, **_said(given)})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(map(str, fault["loc"])) or "it"
        raise errors.ConfigurationError(
            f"{path}: {key}: {fault['msg']}, got {str(fault['input'])[:80]!r}; it takes "
            f"{', '.join(FinRLOptions.model_fields)}"
        ) from None


def _said(options: FinRLOptions) -> dict[str, Any]:
    """The options that somebody has given."""
    return {name: getattr(options, name) for name in options.model_fields_set}


def _read_config(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(MOST_CONFIG_BYTES + 1)
        if len(text) > MOST_CONFIG_BYTES:
            raise ValueError(f"it has more than {MOST_CONFIG_BYTES} bytes")
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise errors.ConfigurationError(
            f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise errors.ConfigurationError(f"FINRL_CONFIG_PATH {path}: {error}") from None
    if not isinstance(content, dict):
        raise errors.ConfigurationError(
            f"{path}: an object with options was expected, got {type(content).__name__}"
        )
    return content
