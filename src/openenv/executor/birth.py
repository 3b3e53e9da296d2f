"""How an interpreter comes to be: what its zygote imports, and how it is confined."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import partial

from openenv.executor.worker import Order, live
from openenv.protocol.errors import ConfigurationError
from openenv.runtime.birth import Birth, Live


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
        return partial(live, self.order)
