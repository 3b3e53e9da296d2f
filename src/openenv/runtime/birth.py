"""Birth: all that a process must know to become what it is forked or started for."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import Self

from openenv.env.spec import EnvSpec
from openenv.runtime.child import converse
from openenv.runtime.host import SessionFactory, session_factory
from openenv.runtime.plan import Plan

if TYPE_CHECKING:
    from openenv.runtime.confine import ConfineError
    from openenv.runtime.sandbox import Sandbox
    from openenv.runtime.session import Session

Live = Callable[[int, "ConfineError | None"], None]
"""A forked process's life: on which socket it speaks, and why it may not run, if it may not."""


@dataclass(frozen=True, kw_only=True)
class Birth(ABC):
    """What to import, and how to be confined. It is pickled, for a process of our own.

    Attributes:
        sandbox: what confines each child, if anything does.
        preload: the zygote imports what its children need; otherwise each of them does.
    """

    sandbox: Sandbox | None = None
    preload: bool = True

    @abstractmethod
    def prepare(self) -> Live:
        """In the zygote: does once what each child would do, and gives what is left to them."""

    def encode(self) -> bytes:
        """As it goes to the process."""
        return pickle.dumps(self)

    @classmethod
    def decode(cls, pickled: bytes) -> Self:
        """As the process reads it, from its own parent."""
        birth: Self = pickle.loads(pickled)
        return birth


@dataclass(frozen=True, kw_only=True)
class SessionBirth(Birth):
    """That of a session of an environment.

    Attributes:
        plan: how to come to the environment.
    """

    plan: Plan

    def prepare(self) -> Live:
        """Imports the environment."""
        return partial(_live, self._preloaded() if self.preload else self._make_anew)

    def load(self) -> SessionFactory:
        """What builds a session, once the environment is imported."""
        return self._factory(self.plan.load())

    def _preloaded(self) -> SessionFactory:
        spec = self.plan.load()
        with suppress(Exception):  # which each session will be told
            spec.parse_action  # noqa: B018  # builds the validator
        return self._factory(spec)

    def _factory(self, spec: EnvSpec) -> SessionFactory:
        plan = self.plan
        return session_factory(
            spec, tracebacks=plan.tracebacks, mode=plan.mode, tool_timeout=plan.tool_timeout
        )

    def _make_anew(self) -> Session:
        return self.load()()


def _live(make: SessionFactory, line: int, refused: ConfineError | None) -> None:
    def build(_: bytes) -> Session:
        if refused is not None:
            raise refused
        return make()

    converse(line, build)
