"""Classes that are made at run time, and pickle as the call that makes them.

A process host pickles an environment's classes for the new process, where a made class has no
name to be imported by.
"""

from __future__ import annotations

import copyreg
from abc import ABCMeta
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

_RECIPE = "_made_by"


class MadeModel(type(BaseModel)):  # type: ignore[misc]  # pydantic's metaclass, by its public way
    """The metaclass of models that are made."""


class MadeClass(ABCMeta):
    """The metaclass of other classes that are made."""


def made_by(cls: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """The class, which from now on pickles as `function(*arguments)`."""
    type.__setattr__(cls, _RECIPE, (function, arguments))
    return cls


def _reduced(cls: type) -> Any:
    """What pickle keeps of a class: its recipe, or its name if somebody wrote it down."""
    return cls.__dict__.get(_RECIPE, cls.__qualname__)


copyreg.pickle(MadeModel, _reduced)
copyreg.pickle(MadeClass, _reduced)
