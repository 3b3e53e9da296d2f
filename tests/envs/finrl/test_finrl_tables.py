"""Price tables: what is read of them, and how they say what is wrong."""

import os
import sys
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")

from finrl_env import FinRLAction
from finrl_env.server import FinRLEnvironment
from finrl_env.table import TableError, read_market
from openenv import errors

Table = Callable[[str], Path]

GOOD = """\
date,tic,close,high,low,mood
2020-01-02,B,20,21,19,0.5
2020-01-02,A,10,11,9,0.25
2020-01-03,A,11,12,10,0.75
2020-01-03,B,21,22,22,1
"""


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Writes a table."""

    def write(text: str) -> Path:
        path = tmp_path / "prices.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_row_is_of_a_day_and_a_stock(table: Table) -> None:
    market = read_market(table(GOOD), ["mood"])
    assert market.tickers == ("B", "A")
    assert market.dates == ("2020-01-02", "2020-01-03")
    assert market.close.tolist() == [[20, 10], [21, 11]]
    assert market.high.tolist() == [[21, 11], [22, 12]]
    assert market.low.tolist() == [[19, 9], [22, 10]]
    assert market.columns["mood"].tolist() == [[0.5, 0.25], [1, 0.75]]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n2020-01-03,A", "\n\n2020-01-03,A"),
        "\n".join(["date,tic,close,high,low,mood", *reversed(GOOD.splitlines()[1:])]),
        "\n".join(f"{number},{line}" for number, line in enumerate(GOOD.splitlines()))[1:],
        GOOD.replace("2020-01-02", " 2020-01-02 ").replace("date,tic", "date, tic "),
        GOOD.replace("date,", "day,date,")
        .replace("2020-01-02", "3,2020-01-02")
        .replace("2020-01-03", "?,2020-01-03"),
    ],
    ids=["mark", "windows", "blank line", "unsorted", "index column", "spaces", "text column"],
)
def test_tables_as_they_are_met(table: Table, text: str) -> None:
    market = read_market(table(text), ["mood"])
    order = [market.tickers.index(ticker) for ticker in "AB"]
    assert market.close[:, order].tolist() == [[10, 20], [11, 21]]
    assert market.dates == ("2020-01-02", "2020-01-03")


def test_close_alone_is_enough(table: Table) -> None:
    market = read_market(table("date,tic,close\n2020-01-02,A,10\n2020-01-03,A,11\n"))
    assert market.high is market.close


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("2020-01-03,A,11", "2020-01-03,A,eleven", "row 4, column close: a number .* got 'eleven'"),
        ("2020-01-03,A,11", "2020-01-03,A,", "row 4, column close: a number .* got nothing"),
        ("2020-01-03,A,11", "2020-01-03,A,NaN", "row 4, column close: a price .* got 'NaN'"),
        ("2020-01-03,A,11", "2020-01-03,A,inf", "row 4, column close: a price .* got 'inf'"),
        ("2020-01-03,A,11", "2020-01-03,A,-11", "row 4, column close: a price .* got '-11'"),
        ("2020-01-03,A,11", "2020-01-03,A,0", "row 4, column close: a price .* got '0'"),
        ("2020-01-03,A,11", "2020-01-03,A,1e300", "row 4, column close: a price .* got '1e300'"),
        ("11,12,10", "11,9,10", "row 4, column high: at least the low, 10 .* got '9'"),
        ("11,12,10", "11,-12,10", "row 4, column high: a price"),
        ("10,0.75", "10,nan", "row 4, column mood: a number .* got 'nan'"),
        ("10,0.75", "10,sunny", "row 4, column mood: a number .* got 'sunny'"),
        ("2020-01-03,A", "03/01/2020,A", "row 4, column date: a day as 2020-01-31"),
        ("2020-01-03,A", "20200103,A", "row 4, column date: a day as 2020-01-31"),
        ("2020-01-03,A", "2020-02-30,A", "row 4, column date: .* got '2020-02-30'"),
        ("2020-01-03,A", ",A", "row 4, column date: .* got nothing"),
        ("2020-01-03,A", "2020-01-03,", "row 4, column tic: a name of 1 to 64 .* got nothing"),
        ("2020-01-03,A", "2020-01-03,A\x00", "column tic|line contains NUL"),
        ("2020-01-03,A", f"2020-01-03,{'A' * 65}", "row 4, column tic: a name of 1 to 64"),
        ("2020-01-03,A", "2020-01-02,A", "row 4: A on 2020-01-02 is in row 3 already"),
        ("2020-01-03,A", "2020-01-02 00:00,A", "row 4: A on 2020-01-02 00:00 is in row 3"),
        ("2020-01-03,A", "2020-01-06,A", "row 4: others have 2020-01-06, B has no row"),
        ("2020-01-03,A", "2020-01-03,C", "others have"),
        (",0.75", "", "row 4: 6 cells were expected, as in the header, got 5"),
        (",0.75", ",0.75,9", "row 4: 6 cells were expected, as in the header, got 7"),
        ("tic,close", "tic,clsoe", "row 1: the column 'close' is missing; is it 'clsoe'"),
        ("date,tic", "date,ticker", "row 1: the column 'tic' is missing; is it 'ticker'"),
        ("high,low", "low,low", "row 1: the column 'low' is there twice"),
    ],
)
def test_a_wrong_table_says_where(table: Table, old: str, new: str, told: str) -> None:
    assert old in GOOD
    with pytest.raises(TableError, match=told) as caught:
        read_market(table(GOOD.replace(old, new, 1)), ["mood"])
    assert str(caught.value).startswith("prices.csv") or "table prices.csv" in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "'date' is missing; a table needs date, tic, close, and this one has none"),
        ("date,tic,close\n", "has 0 days"),
        ("date,tic,close\n2020-01-02,A,1\n", "has 1 days; there is nothing to trade in"),
        ("date;tic;close\n2020-01-02;A;1\n", "'date' is missing"),
        ('date,tic,close\n"2020-01-02,A,1\n', "row 2: 3 cells were expected"),
        (f"date,tic,close\n2020-01-02,A,{'1' * 200_000}\n", "field larger than field limit"),
    ],
)
def test_what_is_no_table_is_told(table: Table, text: str, told: str) -> None:
    with pytest.raises(TableError, match=told):
        read_market(table(text))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="No such file"):
        read_market(tmp_path / "missing.csv")
    with pytest.raises(TableError, match="is a directory or a device"):
        read_market(tmp_path)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00date")
    with pytest.raises(TableError, match="decode"):
        read_market(tmp_path / "binary.csv")
    with (tmp_path / "huge.csv").open("wb") as file:
        file.truncate(1 << 30)  # a hole, which takes no room
    with pytest.raises(TableError, match="1073741824 bytes; a price table has at most"):
        read_market(tmp_path / "huge.csv")


def test_a_table_is_traded_on(table: Table) -> None:
    environment = FinRLEnvironment(data_path=str(table(GOOD)), tech_indicator_list=["mood"])
    seen = environment.reset()
    assert seen.state == [100_000, 20, 10, 0, 0, 0.5, 0.25]
    assert (seen.tickers, seen.date) == (["B", "A"], "2020-01-02")
    assert "B: price 20.00, shares 0, mood 0.5" in seen.text
    seen = environment.reset(tech_indicator_list=[])
    assert seen.state == [100_000, 20, 10, 0, 0]
    assert "A: price 10.00, shares 0\n" in seen.text
    environment.reset()
    seen = environment.step(FinRLAction(actions=[1.0, 1.0]))
    assert seen.state[1:5] == [21, 11, 100, 100]


def test_an_unknown_column_is_told_with_those_there_are(table: Table) -> None:
    environment = FinRLEnvironment(data_path=str(table(GOOD)))
    with pytest.raises(errors.InvalidRequest, match="no column 'hihg'.*did you mean high"):
        environment.reset(tech_indicator_list=["hihg"])
    with pytest.raises(errors.InvalidRequest, match="no column 'vix'"):
        environment.reset(turbulence_threshold=1.0, risk_indicator_col="vix")


def test_a_column_may_say_the_risk(table: Table) -> None:
    rows = ["2020-01-02,A,10,30", "2020-01-03,A,10,30", "2020-01-06,A,10,10"]
    path = table("\n".join(["date,tic,close,vix", *rows]))
    environment = FinRLEnvironment(
        data_path=str(path), num_stock_shares=7, turbulence_threshold=20, risk_indicator_col="vix"
    )
    assert environment.reset().state[2] == 7
    assert environment.step(FinRLAction(actions=[0.0])).state[2] == 7
    assert environment.step(FinRLAction(actions=[1.0])).state[2] == 0


def test_a_table_that_has_changed_is_read_anew(table: Table) -> None:
    path = table(GOOD)
    environment = FinRLEnvironment(data_path=str(path))
    assert environment.reset().state[1] == 20
    table(GOOD.replace("B,20,", "B,20.5,"))
    assert environment.reset().state[1] == 20.5
    table(GOOD.replace("B,20,", "B,30.5,"))
    os.utime(path, ns=(1, 1))
    assert environment.reset().state[1] == 30.5


def test_a_table_that_has_gone_ends_no_episode(table: Table) -> None:
    path = table(GOOD)
    environment = FinRLEnvironment(data_path=str(path))
    environment.reset()
    path.unlink()
    with pytest.raises(TableError, match="No such file") as gone:
        environment.reset()
    assert str(path.parent) not in str(gone.value)
    assert environment.step(FinRLAction(actions=[0.0, 0.0])).date == "2020-01-03"


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "prices.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match=r"pip install 'openenv-finrl-env\[parquet\]'"):
        read_market(tmp_path / "prices.parquet")


@pytest.mark.parametrize("timed", [False, True])
def test_parquet_is_read_as_csv_is(tmp_path: Path, timed: bool) -> None:
    rows = [line.split(",") for line in GOOD.splitlines()[1:]]
    days: list[Any] = [date.fromisoformat(row[0]) for row in rows]
    if timed:
        days = [datetime(day.year, day.month, day.day) for day in days]
    columns = {
        "date": days,
        "tic": [row[1] for row in rows],
        "close": [float(row[2]) for row in rows],
    }
    market = read_market(_parquet(tmp_path, columns))
    assert market.close.tolist() == [[20, 10], [21, 11]]
    midnight = " 00:00:00" if timed else ""
    assert market.dates == (f"2020-01-02{midnight}", f"2020-01-03{midnight}")


def test_a_wrong_parquet_table_says_where(tmp_path: Path) -> None:
    columns = {"date": ["2020-01-02"] * 2, "tic": ["A", "B"], "close": [1.0, None]}
    with pytest.raises(TableError, match="row 2, column close: a number was expected, got nothing"):
        read_market(_parquet(tmp_path, columns))
    (tmp_path / "prices.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(TableError, match="cannot be read"):
        read_market(tmp_path / "prices.parquet")


def test_a_parquet_table_of_too_many_rows_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _parquet(tmp_path, {"date": ["2020-01-02"] * 3, "tic": list("ABC"), "close": [1.0] * 3})
    monkeypatch.setattr("finrl_env.table.MOST_ROWS", 2)
    with pytest.raises(TableError, match="3 rows; a price table has at most 2"):
        read_market(path)


def _parquet(folder: Path, columns: dict[str, Any]) -> Path:
    pyarrow = pytest.importorskip("pyarrow", reason="pip install -e 'envs/finrl_env[dev]'")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), folder / "prices.parquet")
    return folder / "prices.parquet"
