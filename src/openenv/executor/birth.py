"""How an interpreter comes to be: what its zygote imports, and how it is confined."""

from __future__ import annotations

import asyncio
import importlib
from dataclasses import dataclass
from functools import partial

from openenv.executor.exceptions import FILE, fault_of
from openenv.executor.piece import Piece, shown
from openenv.executor.worker import Order, live
from openenv.protocol.errors import ConfigurationError
from openenv.runtime.birth import Birth, Live

REHEARSAL = f"{FILE}0>"


@dataclass(frozen=True, kw_only=True)
class InterpreterBirth(Birth):
    """That of an interpreter.

    Attributes:
        order: what it is to be.
    """

    order: Order

    def prepare(self) -> Live:
        """Imports what all interpreters will have."""
        for name in self.order.preload if self.preload else ():
            try:
                importlib.import_module(name)
            except Exception as error:
                raise ConfigurationError(
                    f"preload={name!r} cannot be imported: {type(error).__name__}: {error}"
                ) from error
        _rehearse()
        return partial(live, self.order)


def _rehearse() -> None:
    """Has everything loaded that running code takes: in the sandbox it may be out of reach."""
    try:
        Piece.compile("await sleep(0)\n(1 / 0,)", REHEARSAL).run({"sleep": asyncio.sleep})
    except ZeroDivisionError as error:
        fault_of(error)
    shown({"a": [1.5, "\ud800"]})
