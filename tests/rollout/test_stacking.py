"""Observations as arrays."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict

from openenv import Observation
from openenv.rollout.stacking import stack


@pytest.mark.parametrize(
    ("values", "dtype", "shape"),
    [
        ([1, 2], "int64", (2,)),
        ([1, 2.5], "float64", (2,)),
        ([True, False], "bool", (2,)),
        ([[1, 2], [3, 4]], "int64", (2, 2)),
        ([(1.0,), (2.0,)], "float64", (2, 1)),
        ([np.zeros((2, 3), "uint8")] * 2, "uint8", (2, 2, 3)),
        ([np.float32(1), np.float32(2)], "float32", (2,)),
        ([np.zeros((0, 3))] * 2, "float64", (2, 0, 3)),
    ],
)
def test_what_becomes_an_array(values: list[Any], dtype: str, shape: tuple[int, ...]) -> None:
    array = stack([{"x": value} for value in values])["x"]
    assert (array.dtype, array.shape) == (np.dtype(dtype), shape)
    assert array.tolist() == [np.asarray(value).tolist() for value in values]
    padded = stack([None, *({"x": value} for value in values), None])["x"]
    assert (padded.dtype, padded.shape) == (array.dtype, (4, *shape[1:]))
    assert padded[1:3].tolist() == array.tolist()
    assert not padded[[0, 3]].any()


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        [1, "b"],
        [1, None],
        [None, 1],
        [[1, 2], [3]],
        [[], []],
        [{"a": 1}, {"a": 2}],
        [b"a", b"b"],
        [2**70, 1],
        [np.zeros(2), np.zeros(3)],
        [np.zeros((2, 2)), np.zeros((2, 3))],
        [[1], 2],
    ],
)
def test_what_stays_a_list(values: list[Any]) -> None:
    assert stack([{"x": value} for value in values])["x"] is not None
    held = stack([{"x": values[0]}, None, {"x": values[1]}])["x"]
    assert isinstance(held, list)
    assert [held[0] is values[0], held[1], held[2] is values[1]] == [True, None, True]


def python(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=15, check=False
    )


class Seen(Observation):
    x: int = 0


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    x: int = 0


def test_the_fields_of_observations() -> None:
    assert stack([Seen(x=1, reward=1.0, metadata={"a": 1})]).keys() == {"x"}
    assert stack([Open(x=1, y=2), Open(x=1, y=3)])["y"].tolist() == [2, 3]  # type: ignore[call-arg]
    assert stack([{"x": 1}, {"x": 2, "y": 3}]).keys() == {"x", "y"}
    assert stack([{"x": 1}, {"x": 2, "y": 3}])["y"] == [None, 3]
    assert stack([1.0, 2.0])["observation"].tolist() == [1.0, 2.0]
    assert stack([None, None]) == {}
    assert stack([]) == {}


def test_without_numpy_lists_work_and_arrays_say_what_to_install(url: str) -> None:
    code = f"""
import sys
sys.modules["numpy"] = None
from openenv.rollout.pool import EnvPool

with EnvPool({url!r}, 2) as pool:
    pool.reset(seeds=3)
    batch = pool.step([{{"order": "go"}}, {{"order": "raise"}}])
    print(batch[0].reward, batch.results[1], len(batch), type(batch.errors[1]).__name__)
    for name in ("rewards", "stacked", "slots", "valid"):
        try:
            getattr(batch, name)
        except ModuleNotFoundError as error:
            print(error.name, "pip install 'openenv-core[numpy]'" in str(error))
"""
    run = python(code)
    assert run.stdout.split("\n") == ["1 None 2 EnvironmentFailed", *["numpy True"] * 4, ""], run


def test_numpy_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys, openenv.rollout.pool; print('numpy' in sys.modules)"
    run = python(code)
    assert run.stdout == "False\n"
