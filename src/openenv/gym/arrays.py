"""Arrays of one dtype and shape: how they are declared, read and written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from openenv.env.arrays import fitted
from openenv.env.ndarray import NDArray


@dataclass(frozen=True)
class Arrays:
    """The arrays of one dtype and shape.

    Attributes:
        dtype: their dtype.
        shape: their shape; `None` is any size.
    """

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]

    @property
    def annotation(self) -> Any:
        """The type of a model's field that holds one."""
        made: Any = NDArray
        return made[self.dtype.name, self.shape]

    def read(self, data: Any) -> np.ndarray[Any, Any]:
        """An array that may be written to, which one that came over the wire may not.

        Raises:
            ValueError: it has another shape, or holds what is no number of the dtype.
        """
        array = self.write(data)
        return array if array.flags.writeable else array.copy()

    def write(self, value: Any) -> np.ndarray[Any, Any]:
        """An array as it is declared, of floats a rounded one; errors as `read`."""
        return fitted(value, self.dtype, self.shape)
