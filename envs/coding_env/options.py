"""What an episode of the coding environment can be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator
from typing_extensions import Self

from coding_env.hidden_tests import HiddenTests
from coding_env.models import MAX_CODE
from openenv import InvalidRequest, Options

LONGEST_S = 3600.0
NAME = r"[^\W\d]\w*"
TopLevel = Annotated[str, Field(max_length=100, pattern=rf"^{NAME}$")]
Module = Annotated[str, Field(max_length=200, pattern=rf"^{NAME}(\.{NAME})*$")]


class CodingOptions(Options, variables="CODING_"):
    """How code is run and paid.

    Attributes:
        executor: what runs the code. `"sandbox"`: Python in a confined process of its own.
            `"smolagents"`: smolagents' interpreter, in the server's process; it is no sandbox.
            `"auto"`: the best there is, the sandbox.
        isolation: `"best"`: the walls that this machine has. `"strict"`: all of them, or no reset.
        timeout_s: seconds that a step's code may run; a step's own `timeout_s` can only shorten it.
        memory_mb: MiB that the code may use; smolagents has no such limit.
        max_output: bytes of each of stdout, stderr and the value that are shown.
        imports: top-level modules that code may import; `None`: all that are installed, and for
            smolagents those of its own list.
        preload: modules that are imported before any code runs, so that importing them is fast.
        safety: how danger is looked for: in the `"syntax"` tree or in the `"text"` of the code.
        tests: hidden tests, in Python. The reward is then the share of them that pass.
        max_steps: steps after which the episode is truncated; `None`: it does not end.
    """

    executor: Literal["auto", "sandbox", "smolagents"] = "auto"
    isolation: Literal["best", "strict"] = "best"
    timeout_s: float = Field(default=10.0, gt=0, le=LONGEST_S)
    memory_mb: int = Field(default=1024, ge=64, le=1 << 20)
    max_output: int = Field(default=50_000, ge=1, le=500_000)
    imports: tuple[TopLevel, ...] | None = Field(default=None, max_length=1000)
    preload: tuple[Module, ...] = Field(default=(), max_length=100)
    safety: Literal["syntax", "text"] = "syntax"
    tests: str | None = Field(default=None, min_length=1, max_length=MAX_CODE)
    max_steps: int | None = Field(default=None, ge=1)

    @field_validator("imports", "preload", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        """A variable may hold `math, json`."""
        if not isinstance(value, str):
            return value
        return tuple(name.strip() for name in value.split(",") if name.strip())

    @field_validator("tests")
    @classmethod
    def _readable(cls, tests: str | None) -> str | None:
        if tests is not None:
            HiddenTests(tests)
        return tests

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.executor == "smolagents" and self.isolation == "strict":
            raise ValueError(
                "smolagents is no sandbox: isolation='strict' needs executor='sandbox'"
            )
        return self

    def for_episode(self, changes: Mapping[str, Any]) -> Self:
        """These options, as an episode's `reset` wants to change them.

        Raises:
            InvalidRequest: a change is unknown or wrong, contradicts another, or would leave the
                code with less of a sandbox than the server has chosen.
        """
        told = self.updated(changes)
        weaker = {
            "executor": told.executor == "smolagents" != self.executor,
            "isolation": told.isolation == "best" != self.isolation,
            "memory_mb": told.memory_mb > self.memory_mb,
            "preload": not set(told.preload) <= set(self.preload),
        }
        for name in (name for name, is_so in weaker.items() if is_so):
            raise InvalidRequest(
                f"{name}={getattr(told, name)!r} leaves less of a sandbox than this server gives, "
                f"which has {getattr(self, name)!r}; to change that, start it with "
                f"{self.variable(name)}"
            )
        return told


def check_seconds(name: str, seconds: object) -> None:
    """Refuses what `timeout_s` would refuse, by the name under which it was given.

    Raises:
        InvalidRequest: these are not so many seconds.
    """
    if seconds is None or (isinstance(seconds, int | float) and 0 < seconds <= LONGEST_S):
        return
    shown = repr(seconds)[:80]
    raise InvalidRequest(f"{name}: seconds, more than 0 and at most {LONGEST_S:g}, got {shown}")
