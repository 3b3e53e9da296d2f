"""Steps that answer actions of tools where no session does: an environment called directly."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from openenv.env.own_loop import OwnLoop
from openenv.env.tool_models import CallToolAction, ListToolsAction, ListToolsObservation
from openenv.env.toolbox import Toolbox

Step = Callable[..., Any]
_ANSWERS = "_answers_tools"


def answering_tools(step: Step) -> Step:
    """A blocking step that lists the tools of `@tool` and calls them, as a session does.

    A session asks the tools themselves, so this is for trainers and tests that hold the
    environment in their own process. Async tools run on an event loop in a thread of its own.

    Args:
        step: takes all other actions; given back as it is if it answers already.
    """
    if hasattr(step, _ANSWERS):
        return step

    @functools.wraps(step)
    def answered(self: Any, action: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(action, ListToolsAction):
            return ListToolsObservation(tools=_done(Toolbox(self).list_tools()))
        if isinstance(action, CallToolAction):
            return _done(Toolbox(self).call_tool(action.tool_name, action.arguments))
        return step(self, action, *args, **kwargs)

    setattr(answered, _ANSWERS, True)
    return answered


def _done(value: Any) -> Any:
    """A value that may have to be awaited."""
    if not inspect.isawaitable(value):
        return value
    loop = OwnLoop("openenv-tools")
    try:
        return loop.run(_awaiting(value))
    finally:
        loop.close()


async def _awaiting(value: Awaitable[Any]) -> Any:
    return await value
