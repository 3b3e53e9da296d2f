"""Birth: all that the process of a session must know to become it."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openenv.runtime.host import SessionFactory, session_factory
from openenv.runtime.plan import Plan

if TYPE_CHECKING:
    from openenv.runtime.sandbox import Sandbox


@dataclass(frozen=True)
class Birth:
    """What to import, and how to be confined. It is pickled, for a process of our own.

    Attributes:
        plan: how to come to the environment.
        sandbox: what confines each session, if anything does.
        preload: the zygote imports the environment; otherwise each session does.
    """

    plan: Plan
    sandbox: Sandbox | None = None
    preload: bool = True

    def encode(self) -> bytes:
        """As it goes to the process."""
        return pickle.dumps(self)

    @classmethod
    def decode(cls, pickled: bytes) -> Birth:
        """As the process reads it, from its own parent."""
        birth: Birth = pickle.loads(pickled)
        return birth

    def load(self) -> SessionFactory:
        """What builds a session, once the environment is imported."""
        return session_factory(self.plan.load(), tracebacks=self.plan.tracebacks)
