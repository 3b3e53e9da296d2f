"""What the tests and benchmarks of every environment need to know of one of them."""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

HERE = Path(__file__).parent
VARIABLE = "OPENENV_TEST_ENVIRONMENT"
"""Names the one package that is tested, whose engine must not be missing then."""

Json = dict[str, Any]
Policy = Callable[[Json, random.Random], Json]


@dataclass(frozen=True, kw_only=True)
class Case:
    """How one environment is played, well and badly.

    Attributes:
        package: its package, `chess_env`.
        needs: modules of its engine; where one is missing, its tests are skipped.
        environment: its class, `chess_env.server.chess_environment:ChessEnvironment`.
        client: the class of its client, `chess_env:ChessEnv`.
        policy: a legal action, from an observation as JSON with its metadata, done and reward.
        reset: options that make episodes short.
        measured: options of episodes that are measured, where those are others.
        illegal: well-typed actions against the rules: answered with `metadata["error"]`, and
            nothing moves.
        invalid: actions that are refused (VALIDATION_ERROR); the session lives on.
        bad_resets: options that `reset` refuses; the running episode lives on.
        steps: as many steps of an episode are played at most.
        reward_range: the least and the greatest reward of a step.
        chance: whether the seed matters.
        beside: other packages of `envs` that its own tests compare it with.
        needs_reset: whether a step before the first reset is refused.
        text: the observation's field for language models.
    """

    package: str
    environment: str
    client: str
    policy: Policy
    reward_range: tuple[float, float]
    needs: tuple[str, ...] = ()
    reset: Json = field(default_factory=dict)
    measured: Json | None = None
    illegal: tuple[Json, ...] = ()
    invalid: tuple[Json, ...] = ()
    bad_resets: tuple[Json, ...] = ()
    steps: int = 50
    chance: bool = True
    beside: tuple[str, ...] = ()
    needs_reset: bool = True
    text: str = "text"

    def to_measure(self) -> "Case":
        """The same with the options of episodes that are measured."""
        return self if self.measured is None else replace(self, reset=self.measured)

    @property
    def environment_class(self) -> Any:
        """The class of the environment."""
        return resolve_name(self.environment)

    @property
    def client_class(self) -> Any:
        """The class of the client."""
        return resolve_name(self.client)

    @property
    def distribution(self) -> str:
        """What `pip` calls its package."""
        return f"openenv-{self.package.replace('_', '-')}"

    def missing(self) -> str | None:
        """What is not installed, and how to install it; `None` if nothing is missing."""
        absent = [name for name in (self.package, *self.needs) if find_spec(name) is None]
        if not absent:
            return None
        return f"no {', '.join(absent)}: pip install -e 'envs/{self.package}[dev]'"


def wanted(package: str) -> bool:
    """Whether a package is to be tested."""
    return os.environ.get(VARIABLE, package) == package


def required() -> bool:
    """Whether something that is missing is an error."""
    return VARIABLE in os.environ


def cases() -> list[Case]:
    """The case of every environment that has one and is to be tested."""
    packages = [f"{path.parent.name}_env" for path in sorted(HERE.glob("*/case.py"))]
    return [case_of(package) for package in packages if wanted(package)]


def playable() -> list[Case]:
    """Those of them whose engines are installed, or must be."""
    return [case for case in cases() if required() or case.missing() is None]


def case_of(package: str) -> Case:
    """The case of one package."""
    folder = package.removesuffix("_env")
    case: Case = import_module(f"tests.envs.{folder}.case").CASE
    return case
