"""The FinRL environment as a trader meets it, in this process and behind a socket."""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")

from finrl_env import FinRLAction, FinRLEnv, FinRLObservation, FinRLState
from finrl_env.server import FinRLEnvironment
from openenv import InvalidRequest, SyncEnvClient, errors, local
from openenv.client.results import StepResult
from tests.markup import buttons_of, view_of

Trader = SyncEnvClient[FinRLAction, FinRLObservation, FinRLState]
Serving = Callable[..., AbstractContextManager[str]]

SMALL: dict[str, Any] = {"market": "synthetic", "stock_dim": 3, "days": 10}


@pytest.fixture(scope="module")
def url(serving: Serving) -> Iterator[str]:
    """A server without any variables."""
    with serving("finrl_env.server.app", "--host", "127.0.0.1", "--port", "0") as url:
        yield url


@pytest.fixture(params=["local", "served"])
def trader(request: pytest.FixtureRequest) -> Iterator[Trader]:
    """An account in this process, and one behind a socket."""
    client: Trader
    if request.param == "local":
        client = local(FinRLEnvironment).sync()
    else:
        client = FinRLEnv(base_url=request.getfixturevalue("url")).sync()
    with client:
        yield client


def buy(*actions: float) -> FinRLAction:
    return FinRLAction(actions=list(actions))


def test_without_options_it_is_the_market_of_finrl_s_package(trader: Trader) -> None:
    """Prices, account and reward were captured from the package of that name."""
    result = trader.reset()
    first = result.observation
    assert first.state[:3] == [100_000.0, 100.0, 0.0]
    assert (len(first.state), first.portfolio_value) == (7, 100_000.0)
    assert (first.date, result.reward, result.done) == ("2020-01-01 00:00:00", 0.0, False)
    result = trader.step(buy(0.5))
    second = result.observation
    assert second.state[:3] == [94_995.0, 101.2659245357375, 50.0]
    assert second.portfolio_value == 100_058.29622678687
    assert result.reward == 0.005829622678687156
    assert (second.date, result.done) == ("2020-01-02 00:00:00", False)


def test_a_market_has_as_many_calls_as_days(trader: Trader) -> None:
    trader.reset(**SMALL)
    results = [trader.step(buy(0.1, 0.2, 0.3)) for _ in range(10)]
    assert [result.done for result in results] == [False] * 9 + [True]
    last, end = results[-2:]
    assert (end.observation.state, end.observation.date) == (
        last.observation.state,
        last.observation.date,
    )
    assert (last.reward != 0.0, end.reward) == (True, 0.0)
    assert last.observation.metadata["filled"] == [10, 20, 30]
    assert end.observation.metadata["filled"] == [0, 0, 0]


def test_finrl_pays_the_last_reward_twice(trader: Trader) -> None:
    trader.reset(compat=True, **SMALL)
    rewards = [trader.step(buy(1, 1, 1)).reward for _ in range(11)]
    assert rewards[9] == rewards[8] != 0.0
    assert rewards[10] == 0.0


def test_rewards_are_gains_scaled(trader: Trader) -> None:
    for scaling in (1.0, 1e-4):
        results = _play(trader, seed=4, reward_scaling=scaling, **SMALL)
        values = [result.observation.portfolio_value for result in results]
        gains = [(after - before) * scaling for before, after in pairwise(values)]
        assert [result.reward for result in results[1:]] == gains


def test_a_step_after_the_end_changes_nothing(trader: Trader) -> None:
    end = _play(trader, seed=1, **SMALL)[-1]
    after = trader.step(buy(1, 1, 1))
    assert (after.done, after.reward) == (True, 0.0)
    assert "reset()" in after.observation.metadata["error"]
    assert after.observation.state == end.observation.state
    why = after.observation.metadata["error"]
    assert after.observation.text == f"Refused: {why}\n{end.observation.text}"
    assert trader.state().step_count == 10


def test_a_step_before_the_first_reset_is_refused(trader: Trader) -> None:
    with pytest.raises(errors.ResetRequired, match="reset"):
        trader.step(buy(0.5))


@pytest.mark.parametrize(
    ("actions", "told"),
    [
        ([], "3 numbers were expected, got 0"),
        ([0.1, 0.2], "3 numbers were expected, got 2"),
        ([0.1] * 1024, "3 numbers were expected, got 1024"),
        ([0.1, math.nan, 0.1], "for STOCK2, got nan"),
        ([math.inf, 0.1, 0.1], "for STOCK1, got inf"),
    ],
)
def test_an_action_that_is_wrong_trades_nothing(
    trader: Trader, actions: list[float], told: str
) -> None:
    first = trader.reset(seed=2, **SMALL)
    result = trader.step(FinRLAction(actions=actions))
    why = result.observation.metadata["error"]
    assert told in why
    assert result.observation.text == f"Refused: {why}\n{first.observation.text}"
    assert (result.reward, result.done) == (0.0, False)
    assert result.observation.state == first.observation.state
    assert (trader.state().step_count, trader.state().day) == (0, 0)
    assert "error" not in trader.step(buy(0.1, 0.1, 0.1)).observation.metadata


def test_numbers_beyond_one_count_as_one_unless_clipping_is_off(trader: Trader) -> None:
    options = {"initial_amount": 1e6}
    trader.reset(**options)
    assert trader.step(buy(5.0)).observation.state[2] == 100
    trader.reset(clip=False, **options)
    assert trader.step(buy(5.0)).observation.state[2] == 500
    assert trader.step(buy(-1e308)).observation.state[2] == 0
    assert trader.step(buy(1e308)).observation.metadata["filled"][0] > 5000


def test_what_was_filled_is_told(trader: Trader) -> None:
    trader.reset(initial_amount=2500)
    assert trader.step(buy(1.0)).observation.metadata["filled"] == [24.0]
    assert trader.step(buy(-0.1)).observation.metadata["filled"] == [-10.0]
    assert trader.step(buy(0.5, 0.5)).observation.metadata["filled"] == [0.0]
    assert trader.step(buy(0.001)).observation.metadata["filled"] == [0.0]


def test_seeds_make_markets(trader: Trader) -> None:
    one, again, other = (_states(_play(trader, seed=seed, **SMALL)) for seed in (5, 5, 6))
    assert one == again != other
    assert trader.reset(seed=5, **SMALL).observation.metadata["seed"] == 5


def test_a_seed_settles_the_episodes_that_follow(trader: Trader) -> None:
    def run() -> list[list[list[float]]]:
        return [
            _states(_play(trader, seed=5, **SMALL)),
            *(_states(_play(trader, **SMALL)) for _ in "ab"),
        ]

    first, second, third = run()
    with pytest.raises(InvalidRequest):
        trader.reset(leverage=2)
    fourth = trader.reset(**SMALL)
    assert run() == [first, second, third]
    assert trader.reset(**SMALL).observation == fourth.observation
    assert first != second != third


def test_metrics_come_at_the_end_and_when_asked_for(trader: Trader) -> None:
    results = _play(trader, seed=3, num_stock_shares=5, **SMALL)
    assert all("metrics" not in result.observation.metadata for result in results[:-1])
    told = results[-1].observation.metadata["metrics"]
    assert told == trader.state().metrics
    assert set(told) == {
        "total_return",
        "annualised_return",
        "annualised_volatility",
        "sharpe",
        "sortino",
        "max_drawdown",
        "trades",
        "costs",
    }
    values = [result.observation.portfolio_value for result in results]
    assert told["total_return"] == pytest.approx(values[-1] / values[0] - 1)


def test_the_state_tells_where_the_episode_stands(trader: Trader) -> None:
    trader.reset(seed=3, episode_id="a week", **SMALL)
    seen = trader.step(buy(0.5, 0.5, 0.5)).observation
    state = trader.state()
    assert (state.episode_id, state.step_count, state.seed) == ("a week", 1, 3)
    assert (state.day, state.days, state.finished) == (1, 10, False)
    assert state.portfolio_value == seen.portfolio_value
    assert state.metrics["trades"] == 3


def test_the_text_tells_what_the_state_does(trader: Trader) -> None:
    trader.reset(seed=3, **SMALL)
    seen = trader.step(buy(0.5, 0.25, 0.0)).observation
    first, *stocks, goal, last = seen.text.splitlines()
    cash = f"{seen.state[0]:.2f}"
    assert first == f"{seen.date}, day 2 of 10. Cash {cash}, portfolio {seen.portfolio_value:.2f}."
    for place, (ticker, line) in enumerate(zip(seen.tickers, stocks, strict=True)):
        price, held = seen.state[1 + place], seen.state[4 + place]
        assert line.startswith(f"{ticker}: price {price:.2f}, shares {held:.0f}, macd ")
        assert line.endswith(f"dx_30 {seen.state[16 + place]:.4g}")
    assert "3 numbers" in last
    assert goal == (
        "You trade for the largest portfolio on the last day; a day's gain, times 0.0001, is its "
        "reward."
    )
    while not (result := trader.step(buy(0, 0, 0))).done:
        pass
    assert result.observation.text.splitlines()[-1].startswith("The last day is over: total return")


def test_the_text_of_many_stocks_is_bounded(trader: Trader) -> None:
    seen = trader.reset(market="synthetic", stock_dim=200, days=5).observation
    assert "and 150 more stocks" in seen.text
    assert len(seen.state) == 1 + 200 * 6


def test_an_episode_may_be_a_part_of_a_market(trader: Trader) -> None:
    whole = [each.observation for each in _play(trader, market="sample", days=252)]
    part = {"start_date": "2020-06-01", "end_date": "2020-06-10"}
    seen = [each.observation for each in _play(trader, market="sample", **part)]
    assert [one.date for one in seen[:-1]] == [f"2020-06-{day:02}" for day in (1, 2, 3, 4, 5, 8, 9)]
    same = {one.date: one.state[1:4] + one.state[7:] for one in whole}
    assert all(one.state[1:4] + one.state[7:] == same[one.date] for one in seen)
    trader.reset(market="sample", days=5, start_date="2020-06-01")
    assert trader.state().days == 5
    assert trader.reset(market="sample", day=250).observation.date == "2020-12-16"


def test_an_account_may_go_on(trader: Trader) -> None:
    trader.reset(market="sample")
    left = trader.step(buy(0.5, 0.25, 0.1)).observation
    went_on = trader.reset(market="sample", day=1, initial=False, previous_state=left.state)
    assert went_on.observation.state == left.state
    traced = [-1e-12, *left.state[1:]]
    went_on = trader.reset(market="sample", day=1, initial=False, previous_state=traced)
    assert went_on.observation.state == [0.0, *left.state[1:]]


def test_a_page_shows_the_curve_and_the_holdings() -> None:
    environment = FinRLEnvironment(market="sample")
    begun = environment.reset(seed=1)
    assert buttons_of(environment, begun) == [
        ("buy all", {"actions": [1.0] * 3}, "b"),
        ("hold", {"actions": [0.0] * 3}, "h"),
        ("sell all", {"actions": [-1.0] * 3}, "s"),
    ]
    seen = [environment.step(buy(0.5, 0.0, 0.0)) for _ in range(3)][-1]
    shown = view_of(environment, seen)
    assert shown.labels[0].startswith("The portfolio from 100,000.00 on 2020-01-01 to ")
    assert f"{seen.portfolio_value:,.2f} on 2020-01-06" in shown.labels[0]
    price = seen.state[1]
    assert f"STOCK1 {price:,.2f} 150 {150 * price:,.2f} +50" in shown.words


def test_the_curve_of_a_long_episode_is_thinned() -> None:
    environment = FinRLEnvironment(days=2500)
    environment.reset()
    end = [environment.step(buy(0.1)) for _ in range(2500)][-1]
    html = environment.render_web(end.model_dump(mode="json"))
    line = re.search('<polyline points="([^"]+)"', html)
    assert line and len(line[1].split()) <= 402
    assert line[1].split()[-1].startswith("600.0,")
    assert "The last day is over." in html
    assert buttons_of(environment, end) == []


def test_the_server_tells_its_configuration(url: str) -> None:
    expected = {
        "stock_dim": 1,
        "initial_amount": 100000,
        "action_space": 1,
        "state_space": 7,
        "tech_indicators": ["macd", "rsi_30", "cci_30", "dx_30"],
    }
    client = FinRLEnv(base_url=url)
    assert client.get_config() == expected
    with client.sync() as trader:
        assert trader.get_config() == expected
        assert type(trader.get_config()["initial_amount"]) is int


async def test_the_configuration_can_be_awaited(url: str) -> None:
    async with FinRLEnv(base_url=url) as trader:
        config = await trader.get_config()
        seen = (await trader.reset()).observation
    assert config["state_space"] == len(seen.state)


def _play(trader: Trader, **options: Any) -> list[StepResult[FinRLObservation]]:
    """All results of an episode of one who buys the first stock and sells the others."""
    results = [trader.reset(**options)]
    stocks = len(results[0].observation.tickers)
    while not results[-1].done:
        results.append(trader.step(buy(0.5, *[-0.01] * (stocks - 1))))
    return results


def _states(results: list[StepResult[FinRLObservation]]) -> list[list[float]]:
    return [result.observation.state for result in results]
