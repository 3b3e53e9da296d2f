"""Rubrics that find what they are told to find, and rubrics that break in every way there is."""

import asyncio
import math
import sys
from collections.abc import Callable
from typing import Any

from openenv.rubrics import (
    ExponentialDiscountingTrajectoryRubric,
    Gate,
    Rubric,
    Sequential,
    WeightedSum,
)


class Fixed(Rubric):
    """Finds one and the same."""

    def __init__(self, found: Any = 1.0) -> None:
        self.found = found
        self.calls = 0

    def forward(self, action: Any, observation: Any) -> Any:
        """It."""
        self.calls += 1
        return self.found


class Awaited(Fixed):
    """The same, once it had to be awaited."""

    async def forward(self, action: Any, observation: Any) -> Any:
        """It."""
        await asyncio.sleep(0)
        return super().forward(action, observation)


class Raising(Rubric):
    """Breaks."""

    def forward(self, action: Any, observation: Any) -> float:
        """Nothing."""
        raise RuntimeError("the grader is down")


class AwaitedRaising(Raising):
    """Breaks a little later."""

    async def forward(self, action: Any, observation: Any) -> float:  # type: ignore[override]
        """Nothing."""
        await asyncio.sleep(0)
        return super().forward(action, observation)


class Hanging(Rubric):
    """Would never answer."""

    timeout_s = 0.01

    async def forward(self, action: Any, observation: Any) -> float:
        """Nothing."""
        await asyncio.Event().wait()
        return 0.0


class Unprintable(Exception):
    """Whose text cannot be had."""

    def __str__(self) -> str:
        """Nothing."""
        raise ValueError("no text")


class RaisingUnprintable(Rubric):
    """Breaks without a word."""

    def forward(self, action: Any, observation: Any) -> float:
        """Nothing."""
        raise Unprintable


class Quitting(Rubric):
    """Ends the program, or so it thinks."""

    def forward(self, action: Any, observation: Any) -> float:
        """Nothing."""
        sys.exit(3)


class AwaitedQuitting(Quitting):
    """Ends it a little later."""

    async def forward(self, action: Any, observation: Any) -> float:  # type: ignore[override]
        """Nothing."""
        await asyncio.sleep(0)
        return super().forward(action, observation)


class Ending(Rubric):
    """Raises what would end more than itself."""

    def __init__(self, end: type[BaseException]) -> None:
        self.end = end

    def forward(self, action: Any, observation: Any) -> float:
        """Nothing."""
        raise self.end


class Verbose(Rubric):
    """Breaks with more words than anybody wants, and with some that cannot be written."""

    def forward(self, action: Any, observation: Any) -> float:
        """Nothing."""
        raise ValueError("\ud800" * 1_000_000)


BROKEN: dict[str, Callable[[], Rubric]] = {
    "raises": Raising,
    "raises later": AwaitedRaising,
    "hangs": Hanging,
    "exits": Quitting,
    "exits later": AwaitedQuitting,
    "cancels itself": lambda: Ending(asyncio.CancelledError),
    "closes itself": lambda: Ending(GeneratorExit),
    "verbose": Verbose,
    "unprintable": RaisingUnprintable,
    "None": lambda: Fixed(None),
    "text": lambda: Fixed("0.5"),
    "bytes": lambda: Fixed(b"1"),
    "nan": lambda: Fixed(math.nan),
    "inf": lambda: Fixed(-math.inf),
    "nan later": lambda: Awaited(math.nan),
    "too large": lambda: Fixed(10**400),
    "list": lambda: Fixed([1.0]),
    "complex": lambda: Fixed(1j),
}


class Asking(Rubric):
    """Makes a 0 of whatever is not 1, as authors do; it cannot tell a failure from that."""

    def __init__(self, child: Rubric) -> None:
        self.child = child

    def forward(self, action: Any, observation: Any) -> Any:
        """1 or 0."""
        score = self.child(action, observation)
        return self._later(score) if asyncio.iscoroutine(score) else float(score == 1.0)

    async def _later(self, score: Any) -> float:
        return float(await score == 1.0)


class Episode(ExponentialDiscountingTrajectoryRubric):
    """Finds 1 at the end."""

    def score_trajectory(self, trajectory: Any) -> Any:
        """It."""
        return 1.0


HOLDERS: dict[str, tuple[Callable[[Rubric], Rubric], str]] = {
    "alone": (lambda rubric: rubric, ""),
    "gate": (lambda rubric: Gate(rubric, threshold=0.5), "rubric"),
    "sequential first": (lambda rubric: Sequential(rubric, Fixed(1.0)), "rubric_0"),
    "sequential last": (lambda rubric: Sequential(Fixed(1.0), rubric), "rubric_1"),
    "sum": (lambda rubric: WeightedSum([Fixed(1.0), rubric], [1.0, 0.0]), "rubric_1"),
    "async sum": (lambda rubric: WeightedSum([Awaited(1.0), rubric], [0.5, 0.5]), "rubric_1"),
    "asking": (Asking, "child"),
    "deep": (
        lambda rubric: Sequential(WeightedSum([Gate(Asking(rubric))], [1.0])),
        "rubric_0.rubric_0.rubric.child",
    ),
}
"""Rubrics that hold another, and the path to that."""


def settled(score: Any) -> Any:
    """What a call gave, awaited if it has to be."""
    return asyncio.run(score) if asyncio.iscoroutine(score) else score
