"""A rubric of its own for the environment of each session, also where one was made for all.

A rubric that is an attribute of a class, the default of an argument, or a module's, belongs to no
instance. What it keeps of an episode must not be mixed with that of other sessions: each gets a
copy.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from typing import Any

from openenv.protocol.errors import ConfigurationError
from openenv.rubrics.anew import copied, keeping

_OWNER = "_rubric_owner"

_owning = threading.Lock()


class Owner:
    """The environment that a rubric belongs to, while that is there. A copy belongs to none."""

    def __init__(self, environment: object | None = None) -> None:
        self._found = None if environment is None else weakref.ref(environment)

    def is_other(self, environment: object) -> bool:
        """Whether another one has it."""
        owner = None if self._found is None else self._found()
        return owner is not None and owner is not environment

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


def with_own_rubric(environment: Any) -> Any:
    """The environment, whose rubric is no other's, and no other session's to come.

    Raises:
        ConfigurationError: its rubric is another's, keeps something, and cannot be copied.
    """
    rubric = getattr(environment, "rubric", None)
    if not keeping(rubric) or _is_computed(environment):
        return environment
    with _owning:
        if "rubric" not in vars(environment) or _is_taken(rubric, environment):
            _copy_into(environment, rubric)
        for one in keeping(environment.rubric):
            vars(one)[_OWNER] = Owner(environment)
    return environment


def give_back(environment: Any) -> None:
    """Says that an environment needs its rubric no more: the next one may have it."""
    if _is_computed(environment):
        return
    for one in keeping(environment.rubric):
        with _owning:
            if not _is_taken(one, environment):
                vars(one).pop(_OWNER, None)


def _is_computed(environment: object) -> bool:
    return isinstance(inspect.getattr_static(type(environment), "rubric", None), property)


def _is_taken(rubric: object, environment: object) -> bool:
    marks = [vars(one).get(_OWNER) for one in keeping(rubric)]
    return any(mark is not None and mark.is_other(environment) for mark in marks)


def _copy_into(environment: Any, rubric: Any) -> None:
    """Has an environment hold copies where it held a rubric, or one of those below it."""
    try:
        copies = copied(rubric)
    except Exception as error:
        if not _is_taken(rubric, environment):
            environment.rubric = rubric  # the first to have it
            return
        name = type(rubric).__name__
        raise ConfigurationError(
            f"the rubric of {type(environment).__name__} is another session's, too, and cannot be "
            f"copied ({type(error).__name__}: {error}): make one for each instance, in __init__: "
            f"self.rubric = {name}(...); or give {name} a __deepcopy__ that shares what can be"
        ) from error
    environment.rubric = copies[id(rubric)]
    for name, value in list(vars(environment).items()):
        if id(value) in copies and callable(value):
            vars(environment)[name] = copies[id(value)]
