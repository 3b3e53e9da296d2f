"""Seeds: what settles the episodes of an environment."""

from __future__ import annotations

import random

_BITS = 31


class Seeds:
    """The seeds of one session's episodes. One that is given settles those that follow it, too.

    ```python
    def reset(self, seed: int | None = None, **options) -> Position:
        seed = self._seeds.next(seed)
    ```

    A new one begins somewhere that nobody has chosen.
    """

    def __init__(self) -> None:
        self._stream = random.Random()

    def next(self, seed: int | None = None) -> int:
        """The seed of the next episode.

        Args:
            seed: what `reset` was called with. Without one, the next of the sequence that the last
                given one began: the same in every process.

        Returns:
            `seed`, or an int from 0 to 2**31 - 1.
        """
        if seed is None:
            return self._stream.getrandbits(_BITS)
        self._stream = random.Random(f"episodes after {seed}")
        return seed
