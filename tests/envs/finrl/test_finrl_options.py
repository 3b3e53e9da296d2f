"""Options: from variables, from a file as FinRL's, from a reset; and what is refused."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")

from pydantic import ValidationError

from finrl_env import FinRLAction, FinRLEnv
from finrl_env.options import SERVER_ONLY, FinRLOptions, configured
from finrl_env.orders import config_of
from finrl_env.server import FinRLEnvironment
from openenv import ConfigurationError, InvalidRequest

Serving = Callable[..., AbstractContextManager[str]]

UPSTREAM: dict[str, Any] = {
    "stock_dim": 3,
    "hmax": 50,
    "initial_amount": 20000,
    "num_stock_shares": [1, 2, 3],
    "buy_cost_pct": [0.002, 0.002, 0.002],
    "sell_cost_pct": [0.001, 0.001, 0.001],
    "state_space": 13,
    "action_space": 3,
    "tech_indicator_list": ["macd", "rsi_30"],
    "reward_scaling": 1e-3,
    "turbulence_threshold": 140,
    "risk_indicator_col": "turbulence",
    "make_plots": False,
    "print_verbosity": 5,
    "day": 0,
    "initial": True,
    "previous_state": [],
    "model_name": "",
    "mode": "",
    "iteration": "",
}
SAMPLE = Path(__file__).parents[3] / "envs/finrl_env/sample.csv"


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Any], str]:
    """Writes a configuration; gives its path."""

    def write(content: Any) -> str:
        path = tmp_path / "config.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


def test_a_server_reads_what_its_variables_say(serving: Serving) -> None:
    variables = {
        "FINRL_DATA_PATH": str(SAMPLE),
        "FINRL_STOCK_DIM": "3",
        "FINRL_INITIAL_AMOUNT": "5000.5",
        "FINRL_HMAX": "7",
        "FINRL_CLIP": "0",
        "FINRL_COMPAT": "1",
        "FINRL_TECH_INDICATOR_LIST": '["macd"]',
        "FINRL_BUY_COST_PCT": "[0, 0.5, 0]",
        "FINRL_LOG_LEVEL": "INFO",
    }
    arguments = ("finrl_env.server.app", "--host", "127.0.0.1", "--port", "0")
    with (
        serving(*arguments, env=_environ(**variables)) as url,
        urllib.request.urlopen(f"{url}/config", timeout=10) as answer,
        FinRLEnv(base_url=url).sync() as trader,
    ):
        assert json.load(answer) == {
            "stock_dim": 3,
            "initial_amount": 5000.5,
            "action_space": 3,
            "state_space": 10,
            "tech_indicators": ["macd"],
        }
        first = trader.reset(end_date="2020-01-06").observation
        assert (first.state[0], first.date) == (5000.5, "2020-01-01")
        second = trader.step(FinRLAction(actions=[2.0, 1.0, 0.0]))
        assert second.observation.metadata["filled"] == [14, 7, 0]
        spent = 14 * first.state[1] + 7 * first.state[2] * 1.5
        assert second.observation.state[0] == pytest.approx(5000.5 - spent)
        last = trader.step(FinRLAction(actions=[0.0, 0.0, 0.0]))
        assert trader.step(FinRLAction(actions=[0.0] * 3)).reward == last.reward != 0


def test_a_table_that_is_wrong_is_told_of_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("date,tic,close\n2020-01-02,A,ten\n")
    status, told = _imported(FINRL_DATA_PATH=str(tmp_path / "prices.csv"))
    assert status != 0
    assert "prices.csv, row 2, column close: a number was expected, got 'ten'" in told


def test_the_log_tells_which_tables_are_read() -> None:
    said = "sample.csv: 3 stocks, 252 days\n"
    assert _imported(FINRL_MARKET="sample", FINRL_LOG_LEVEL="INFO") == (0, said)
    assert _imported(FINRL_MARKET="sample") == (0, "")


def _imported(**variables: str) -> tuple[int, str]:
    """How the import of the application ends in a process, and what it writes."""
    command = [sys.executable, "-c", "import finrl_env.server.app"]
    run = subprocess.run(
        command, check=False, env=_environ(**variables), capture_output=True, text=True, timeout=15
    )
    return run.returncode, run.stderr


def test_a_file_as_finrl_s_configures_it(written: Callable[[Any], str]) -> None:
    path = written(UPSTREAM | {"data_path": str(SAMPLE)})
    environment = FinRLEnvironment(config_path=path)
    first = environment.reset()
    assert first.state[0] == 20000
    assert first.state[4:7] == [1, 2, 3]
    assert len(first.state) == 13
    seen = environment.step(FinRLAction(actions=[1.0, 0.0, 0.0]))
    assert seen.state[4] == 51
    assert seen.state[0] == pytest.approx(20000 - 50 * first.state[1] * 1.002)


def test_what_is_said_nearer_wins(written: Callable[[Any], str]) -> None:
    path = written({"hmax": 1, "initial_amount": 2.0, "days": 3})
    options = configured(FinRLOptions(config_path=path, hmax=10), initial_amount=20.0)
    assert (options.hmax, options.initial_amount, options.days) == (10, 20.0, 3)
    environment = FinRLEnvironment(options, days=4)
    environment.reset(days=5)
    assert environment.state.days == 5
    environment.reset()
    assert environment.state.days == 4


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", r"config.json:1:2: no JSON"),
        ("[1]", "an object with options was expected, got list"),
        ({"hmx": 1}, "hmx: Extra inputs are not permitted, got '1'; it takes market"),
        ({"hmax": "many"}, "hmax: Input should be a valid integer.*got 'many'"),
        ('{"hmax": NaN}', "hmax: .*got 'nan'"),
        ({"market": "file"}, "FINRL_DATA_PATH, which is not set"),
        (" " * (1 << 20) + "{}", "more than 1048576 bytes"),
        ("[" * 100_000, "config.json"),
    ],
)
def test_a_wrong_file_is_told(written: Callable[[Any], str], content: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as caught:
        FinRLEnvironment(config_path=written(content))
    assert "config.json" in str(caught.value)


def test_a_file_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="FINRL_CONFIG_PATH .*No such file"):
        FinRLEnvironment(config_path=str(tmp_path / "none.json"))


def test_a_wrong_argument_is_refused() -> None:
    with pytest.raises(ValidationError, match="hmax"):
        FinRLEnvironment(hmax=0)


@pytest.mark.parametrize("name", sorted(SERVER_ONLY))
def test_a_reset_reaches_no_files_and_loads_no_code(name: str) -> None:
    environment = FinRLEnvironment()
    environment.reset()
    asked: dict[str, Any] = {name: "/etc/passwd"}
    with pytest.raises(InvalidRequest, match=f"FINRL_{name.upper()}"):
        environment.reset(**asked)
    assert environment.step(FinRLAction(actions=[0.0])).metadata["day"] == 1


def test_refusals_do_not_tell_where_the_server_s_files_are() -> None:
    environment = FinRLEnvironment(data_path=str(SAMPLE))
    for wrong in ({"initial": False}, {"stock_dim": 2}, {"day": 999}, {"hmax": -1}):
        with pytest.raises(InvalidRequest) as refusal:
            environment.reset(**wrong)
        assert "sample.csv" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"stock_dim": 1024, "days": 10_000}, "51200000 numbers, and there may be 1250000 at most"),
        ({"stock_dim": 200, "days": 200, "turbulence_threshold": 1}, "too much to compute"),
        ({"num_stock_shares": [1, 2]}, "num_stock_shares has 2 numbers for 1 stocks"),
        ({"action_space": 2}, "action_space is 2, but 1 stocks and 4 indicators make 1"),
        ({"market": "sample", "stock_dim": 5}, "stock_dim is 5, but the sample has 3 stocks"),
        ({"initial": False, "previous_state": [1.0]}, "has 1 numbers; of 1 stocks it has at least"),
        ({"initial": False, "previous_state": [0.0, 9.0, 0.0]}, "account with neither"),
        ({"initial": False, "previous_state": [1.0, 9.0, 0.5]}, "whole numbers"),
        ({"start_date": "2021-01-01"}, "0 days are left from 2021-01-01 to before the end"),
        ({"start_date": "soon"}, "start_date: Input should be a valid date"),
        ({"tech_indicator_list": ["a" * 65]}, "tech_indicator_list"),
        ({"tech_indicator_list": ["macd"] * 33}, "tech_indicator_list"),
        ({"previous_state": [0.0] * 200_000}, "previous_state"),
        ({"initial_amount": "NaN"}, "initial_amount: Input should be a finite number"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], told: str) -> None:
    environment = FinRLEnvironment(market="synthetic")
    environment.reset(seed=1)
    with pytest.raises(InvalidRequest, match=told) as refusal:
        environment.reset(**options)
    assert len(str(refusal.value)) < 1000
    assert environment.step(FinRLAction(actions=[0.0])).metadata["day"] == 1


def test_a_single_stock_begins_with_its_shares_except_as_in_finrl() -> None:
    assert FinRLEnvironment(num_stock_shares=[9]).reset().state[2] == 9
    assert FinRLEnvironment(num_stock_shares=[9], compat=True).reset().state[2] == 0
    several = FinRLEnvironment(market="sample", num_stock_shares=9, compat=True)
    assert several.reset().state[4:7] == [9, 9, 9]


def test_the_configuration_is_of_what_is_traded() -> None:
    told = config_of(FinRLOptions(market="sample", tech_indicator_list=[]))
    assert (told["stock_dim"], told["state_space"]) == (3, 7)


def _environ(**variables: str) -> dict[str, str]:
    return {**os.environ, **variables}
