"""A space of every kind, and of every dtype and shape that is of its own."""

import string
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from gymnasium import Space, spaces

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def _box(dtype: str) -> Space[Any]:
    return spaces.Box(0, 100, (2, 3), np.dtype(dtype).type)


def _nested() -> Space[Any]:
    return spaces.Dict(
        {
            "sensors": spaces.Dict(
                {
                    "camera": spaces.Box(0, 255, (3, 4, 3), np.uint8),
                    "a key of its own": spaces.Box(-1.0, 1.0, (2,), np.float64),
                }
            ),
            "hands": spaces.Tuple([spaces.Discrete(3, start=-1), spaces.MultiBinary(4)]),
            "word": spaces.Text(5, charset="ab"),
        }
    )


SPACES: dict[str, Callable[[], Space[Any]]] = {
    **{f"Box of {dtype}": partial(_box, dtype) for dtype in (*FLOATS, *INTEGERS)},
    "Box of bool": lambda: spaces.Box(0, 1, (2,), np.bool_),
    "Box without axes": lambda: spaces.Box(-1.0, 1.0, (), np.float32),
    "Box without elements": lambda: spaces.Box(-1.0, 1.0, (0, 3), np.float32),
    "Box without bounds": lambda: spaces.Box(-np.inf, np.inf, (3,), np.float64),
    "Box with half its bounds": lambda: spaces.Box(
        np.array([-np.inf, 0.1], np.float32), np.array([0.3, np.inf], np.float32), dtype=np.float32
    ),
    "Box of whole numbers without bounds": lambda: spaces.Box(-np.inf, np.inf, (2,), np.int64),
    "Discrete": lambda: spaces.Discrete(5),
    "Discrete from -3": lambda: spaces.Discrete(5, start=-3),
    "MultiBinary": lambda: spaces.MultiBinary(3),
    "MultiBinary with axes": lambda: spaces.MultiBinary([2, 3]),
    "MultiDiscrete": lambda: spaces.MultiDiscrete([3, 2, 5]),
    "MultiDiscrete with axes": lambda: spaces.MultiDiscrete(np.array([[3, 2], [5, 4]])),
    "MultiDiscrete from other numbers": lambda: spaces.MultiDiscrete([3, 2], start=[-1, 7]),
    "Text": lambda: spaces.Text(10),
    "Text of signs": lambda: spaces.Text(8, min_length=0, charset=string.punctuation + "é☃"),
    "Tuple": lambda: spaces.Tuple([spaces.Discrete(2), spaces.Box(0.0, 1.0, (2,), np.float32)]),
    "Dict": lambda: spaces.Dict({"at": spaces.Box(0.0, 1.0, (2,)), "holds": spaces.Discrete(3)}),
    "Dict of names that are taken": lambda: spaces.Dict(
        {"reward": spaces.Discrete(2), "metadata": spaces.Discrete(3)}
    ),
    "Dict of one": lambda: spaces.Dict({"at": spaces.Discrete(3)}),
    "Dict of all": _nested,
    "OneOf": lambda: spaces.OneOf([spaces.Discrete(3), spaces.Box(0.0, 1.0, (2,), np.float32)]),
    "OneOf of the like": lambda: spaces.OneOf([spaces.Discrete(3), spaces.Discrete(3)]),
    "Sequence": lambda: spaces.Sequence(spaces.Box(0.0, 1.0, (2,), np.float32)),
    "Sequence of pairs": lambda: spaces.Sequence(
        spaces.Tuple([spaces.Discrete(2), spaces.Text(3)])
    ),
    "Sequence in a stack": lambda: spaces.Sequence(
        spaces.Box(0.0, 1.0, (2,), np.float32), stack=True
    ),
    "Sequence of numbers in a stack": lambda: spaces.Sequence(spaces.Discrete(4), stack=True),
    "Graph": lambda: spaces.Graph(spaces.Box(0.0, 1.0, (2,), np.float32), spaces.Discrete(3)),
    "Graph without edges": lambda: spaces.Graph(spaces.Discrete(4), None),
}
