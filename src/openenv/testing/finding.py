"""Finding: what a look at an environment has shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Status(str, Enum):
    """How a look at an environment has ended.

    Attributes:
        PASS: it is as it should be.
        WARN: it works, and somebody will stumble over it.
        FAIL: a promise is broken.
        SKIP: it could not be told; the evidence says why.
        ERROR: the check itself failed.
    """

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """What a look has shown.

    Attributes:
        status: how it ended.
        evidence: what was seen, a sentence each.
        measured: the same in numbers, as JSON takes it.
    """

    status: Status
    evidence: tuple[str, ...] = ()
    measured: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def judged(
        cls,
        faults: list[str],
        seen: str,
        measured: dict[str, Any] | None = None,
        *,
        mild: bool = False,
    ) -> Finding:
        """A pass if there are no faults.

        Args:
            faults: what is not as it should be.
            seen: what was seen where all is well.
            measured: the numbers.
            mild: faults are warned of, not failed for.
        """
        worst = Status.WARN if mild else Status.FAIL
        return cls(worst if faults else Status.PASS, tuple(faults or [seen]), measured or {})


def skipped(why: str, measured: dict[str, Any] | None = None) -> Finding:
    """What could not be told, and why."""
    return Finding(Status.SKIP, (why,), measured or {})


def broken(*faults: str) -> Finding:
    """A promise that is broken, and how that shows."""
    return Finding(Status.FAIL, faults)
