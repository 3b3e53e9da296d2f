"""What a language model reads of a day."""

from __future__ import annotations

from finrl_env.episode import Episode

MOST_LINES = 50


def describe(episode: Episode, refused: str = "") -> str:
    """The day in lines: why nothing was traded, if so, account, stocks, and what may be done."""
    tape, vector = episode.tape, episode.vector
    lines = [f"Refused: {refused}"] if refused else []
    lines += [
        f"{episode.date}, day {episode.day + 1} of {len(tape)}. "
        f"Cash {vector[0]:.2f}, portfolio {episode.value:.2f}."
    ]
    lines += [_stock_line(episode, stock) for stock in range(min(len(tape.tickers), MOST_LINES))]
    if (more := len(tape.tickers) - MOST_LINES) > 0:
        lines.append(f"and {more} more stocks")
    lines += [_closing(episode)] if episode.done else [_goal(episode), _asking(episode)]
    return "\n".join(lines)


def _stock_line(episode: Episode, stock: int) -> str:
    tape, vector = episode.tape, episode.vector
    stocks = len(tape.tickers)
    signals = vector[2 * stocks + 1 + stock :: stocks]
    told = [f"{name} {value:.4g}" for name, value in zip(tape.indicators, signals, strict=True)]
    price, held = vector[1 + stock], vector[1 + stocks + stock]
    shown = f"{price:.2f}" if price >= 1 else f"{price:.4g}"
    return ", ".join([f"{tape.tickers[stock]}: price {shown}", f"shares {held:.0f}", *told])


def _goal(episode: Episode) -> str:
    scaling = f"{episode.options.reward_scaling:g}"
    return (
        "You trade for the largest portfolio on the last day; "
        f"a day's gain, times {scaling}, is its reward."
    )


def _asking(episode: Episode) -> str:
    hmax, stocks = episode.options.hmax, len(episode.tape.tickers)
    numbers = "a number" if stocks == 1 else f"{stocks} numbers, in this order,"
    return f"Give {numbers} in [-1, 1]: 1 buys {hmax} shares, -1 sells as many, 0 does nothing."


def _closing(episode: Episode) -> str:
    figures = ", ".join(
        f"{name.replace('_', ' ')} {value:.4g}"
        for name, value in episode.metrics().items()
        if value is not None
    )
    return f"The last day is over: {figures}."
