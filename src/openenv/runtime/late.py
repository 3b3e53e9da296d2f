"""Late: a call that was given up and still runs; its session lives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from openenv.protocol.errors import EnvironmentFailed
from openenv.protocol.messages import Reply, Request

MAY_BE_GIVEN_UP = frozenset({"call_tool", "view"})
"""Operations that are no part of the episode's own rules: a session goes on without their end."""


@dataclass(frozen=True, eq=False)
class Late:
    """A call that nobody waits for any more, but those that were asked after it.

    Attributes:
        request: what it was asked.
        running: done when it has ended.
    """

    request: Request
    running: asyncio.Future[Reply]

    @property
    def is_view(self) -> bool:
        """Whether it is a view, which is nobody's reason to lose an episode."""
        return self.request.op == "view"

    def then(self, serve: Callable[[], Reply | asyncio.Future[Reply]]) -> asyncio.Future[Reply]:
        """The reply to what is asked when it has ended; nothing is, if nobody waits then."""
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

        def begin(_: asyncio.Future[Reply]) -> None:
            if answer.done():
                return
            try:
                outcome = serve()
            except Exception as error:  # noqa: BLE001  # every failure is answered
                answer.set_exception(error)
                return
            if isinstance(outcome, Reply):
                answer.set_result(outcome)
            else:
                outcome.add_done_callback(partial(_pass_on, answer))

        self.running.add_done_callback(begin)
        return answer

    def refusal(self, request: Request) -> EnvironmentFailed:
        """The answer to a request that has waited for this long enough."""
        return EnvironmentFailed(
            f"{called(self.request)} was given up, could not be interrupted and still runs, and "
            f"the environment does one thing at a time: this {request.op} was not begun. Ask "
            "again when that may have returned, or close the session and open another",
            operation=self.request.op,
        )


def called(request: Request) -> str:
    """What a request calls, for people."""
    if request.op == "view":
        return "render_web or web_actions"
    return f"tool {request.data.get('tool_name')!r}"


def timed_out(seconds: float, late: Late | None) -> str:
    """What became of a call, which waited for one that was given up, if there is one."""
    text = f"timed out after {seconds:g} s"
    if late is None:
        return text
    return f"{text}: it waited for {called(late.request)}, which was given up and still runs"


def keeps_slot(seconds: float, late: Late | None) -> str:
    """Why the slot of a session that was closed is not free, and what to do about it."""
    what = "a call" if late is None else called(late.request)
    return (
        f"keeps its slot: {what} still runs {seconds:g} s after it was closed, and nothing can end "
        "it here; where the host kind is `process` or `sandbox` it would be killed"
    )


def forget(running: asyncio.Future[Any]) -> None:
    """Nobody waits for this any more; its error is not to be reported as a forgotten one."""
    if not running.cancelled():
        running.exception()


def _pass_on(answer: asyncio.Future[Reply], outcome: asyncio.Future[Reply]) -> None:
    """Gives one future what another one has, unless nobody waits for it any more."""
    if answer.done():
        forget(outcome)
    elif outcome.cancelled():
        answer.cancel()
    elif (error := outcome.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(outcome.result())
