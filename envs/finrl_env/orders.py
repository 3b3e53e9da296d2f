"""From options to what trades: terms, funds and the engine."""

from __future__ import annotations

from finrl_env.models import FinRLConfig
from finrl_env.options import FinRLOptions
from finrl_env.tape import Tape, tape_for
from finrl_env.trading import Engine, Funds, Terms, Trading, ranked, ranked_by_numpy
from openenv import InvalidRequest

TRACE = 1e-6
"""What rounding may leave less than no cash."""


def terms_of(options: FinRLOptions, stocks: int) -> Terms:
    """On what terms so many stocks are traded.

    Raises:
        InvalidRequest: a list has a number for fewer or more.
    """
    return Terms(
        options.hmax,
        _each("buy_cost_pct", options.buy_cost_pct, stocks),
        _each("sell_cost_pct", options.sell_cost_pct, stocks),
        options.turbulence_threshold,
        ranked_by_numpy if options.compat else ranked,
    )


def funds_of(options: FinRLOptions, stocks: int) -> Funds:
    """What one begins with.

    Raises:
        InvalidRequest: a list is of fewer or more stocks, or the previous state is impossible.
    """
    if not options.initial:
        return _funds_left(options, stocks)
    shares = _each("num_stock_shares", options.num_stock_shares, stocks)
    if options.compat and stocks == 1:
        shares = (0.0,)
    return Funds(float(options.initial_amount), shares)


def check_size(options: FinRLOptions, tape: Tape) -> None:
    """Compares what FinRL wants to be told with what follows from the tape.

    Raises:
        InvalidRequest: they differ, or the day to begin with is none of the tape's.
    """
    for name, told, real in (
        ("state_space", options.state_space, state_space(tape)),
        ("action_space", options.action_space, len(tape.tickers)),
    ):
        if told not in (None, real):
            raise InvalidRequest(
                f"{name} is {told}, but {len(tape.tickers)} stocks and {len(tape.indicators)} "
                f"indicators make {real}; leave it out"
            )
    if options.day > len(tape) - 2:
        raise InvalidRequest(
            f"day {options.day} leaves no day to trade: the market's last is {len(tape) - 1}"
        )


def state_space(tape: Tape) -> int:
    """How many numbers a state has."""
    return 1 + len(tape.tickers) * (2 + len(tape.indicators))


def config_of(options: FinRLOptions) -> FinRLConfig:
    """What a server tells of itself; errors as `engine_for`."""
    tape, _ = engine_for(options, seed=0)
    amount = options.initial_amount
    return {
        "stock_dim": len(tape.tickers),
        "initial_amount": int(amount) if amount == int(amount) else amount,
        "action_space": len(tape.tickers),
        "state_space": state_space(tape),
        "tech_indicators": list(tape.indicators),
    }


def engine_for(options: FinRLOptions, seed: int) -> tuple[Tape, Engine]:
    """A market, and an account on it.

    Raises:
        InvalidRequest: options contradict each other or the market.
        TableError: the price table is wrong.
        MissingPackage: FinRL's engine is asked for, and is not installed.
    """
    tape = tape_for(options, seed)
    check_size(options, tape)
    stocks = len(tape.tickers)
    terms, funds = terms_of(options, stocks), funds_of(options, stocks)
    if options.engine == "finrl":
        from finrl_env.finrl_engine import FinRLEngine

        return tape, FinRLEngine(tape, terms, funds, options)
    return tape, Trading(tape, terms, funds, options.day)


def _each(name: str, value: float | list[float] | list[int], stocks: int) -> tuple[float, ...]:
    """A number for each stock."""
    if not isinstance(value, list):
        return (float(value),) * stocks
    if len(value) != stocks:
        raise InvalidRequest(
            f"{name} has {len(value)} numbers for {stocks} stocks; give one for each, or a single "
            "one for all"
        )
    return tuple(float(number) for number in value)


def _funds_left(options: FinRLOptions, stocks: int) -> Funds:
    previous = options.previous_state
    if len(previous) <= 2 * stocks:
        raise InvalidRequest(
            f"previous_state has {len(previous)} numbers; of {stocks} stocks it has at least "
            f"{2 * stocks + 1}"
        )
    cash, shares = previous[0], tuple(previous[stocks + 1 : 2 * stocks + 1])
    cash = max(0.0, cash) if cash > -TRACE else cash
    whole = all(0 <= held <= 1e9 and held % 1 == 0 for held in shares)
    if not whole or not 0 <= cash <= 1e15 or not any([cash, *shares]):
        raise InvalidRequest(
            "previous_state must begin with cash from 0, hold whole numbers of shares from 0, and "
            "not be of an account with neither"
        )
    return Funds(cash, shares)
