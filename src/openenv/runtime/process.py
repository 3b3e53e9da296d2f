"""ProcessHost: an environment in a process of its own, which can crash or be killed alone."""

from __future__ import annotations

import asyncio

from pydantic import ValidationError
from pydantic_core import from_json

from openenv.env.metadata import EnvironmentMetadata
from openenv.protocol.errors import EnvironmentFactoryError, HostCrashed, SessionError
from openenv.protocol.messages import Emit, Reply, Request
from openenv.runtime.host import Host
from openenv.runtime.nursery import Nursery
from openenv.runtime.offspring import Offspring
from openenv.runtime.pipe import CARD_QUESTION, INTERRUPT, encode_question, is_object

NATURAL_END_S = 0.5
"""How long what has closed its socket may take to die of itself, which tells why it did."""
LAST_NEWS_S = 10.0
"""How long the news of a death may take, once the socket to the dead is closed."""


class ProcessHost(Host):
    """In a child process of its own.

    Args:
        name: the environment's, for people.
        nursery: where the process comes from.
        whose: the session, for people.
    """

    def __init__(self, name: str, nursery: Nursery, whose: str) -> None:
        self._name = name
        self._nursery = nursery
        self._whose = whose
        self._child: Offspring | None = None

    async def start(self) -> None:
        """Has the child made, and waits until it has built the environment."""
        self._child = child = Offspring(self._whose)
        opening = await self._nursery.bear(child)
        answer = await self._exchange(opening)
        if answer.type != "ready":
            raise EnvironmentFactoryError(self._name, answer.body.decode(errors="replace"))

    def serve(self, request: Request) -> asyncio.Future[Reply]:
        """The reply, when the child has it."""
        return asyncio.ensure_future(self._answer(encode_question(request), request.emit))

    def interrupt(self) -> None:
        """Asks the child to end what it does, wherever it waits."""
        if self._child is not None:
            self._child.link.tell(INTERRUPT)

    async def card(self) -> EnvironmentMetadata:
        """What the environment tells about itself.

        Raises:
            SessionError: it tells nothing, or its process died of being asked.
        """
        reply = await self._answer(CARD_QUESTION)
        if reply.type == "error":
            raise SessionError.from_data(from_json(reply.body))
        try:
            return EnvironmentMetadata.model_validate_json(reply.body)
        except ValidationError:
            raise self._lied() from None

    async def close(self) -> None:
        """Lets the child close its environment and end; a dead one is only collected."""
        child = self._child
        if child is None:
            return
        try:
            await child.link.say_goodbye()
            if child.is_born:
                await asyncio.shield(child.death)
            await child.close()
        finally:
            child.kill()  # where something went wrong; else it is dead
            child.let_go()

    def kill(self) -> bool:
        """Kills the child and all that it started."""
        if self._child is not None:
            self._child.kill()
        return True

    async def _answer(self, question: bytes, emit: Emit | None = None) -> Reply:
        reply = await self._exchange(question, emit)
        if reply.type == "ready" or not is_object(reply):
            raise self._lied()
        return reply

    async def _exchange(self, question: bytes, emit: Emit | None = None) -> Reply:
        child = self._child
        if child is None:
            raise HostCrashed("the environment's process is not running")
        try:
            return await child.link.ask(question, emit)
        except HostCrashed as error:
            raise self._lied() from error
        except ConnectionError as error:
            raise await self._crashed(child) from error

    def _lied(self) -> HostCrashed:
        self.kill()
        return HostCrashed(f"the process of {self._name} sent something that is no answer")

    async def _crashed(self, child: Offspring) -> HostCrashed:
        await asyncio.wait([child.death], timeout=NATURAL_END_S)
        child.kill()
        await asyncio.wait([child.death], timeout=LAST_NEWS_S)
        await child.stderr.close()
        if not child.death.done():
            return HostCrashed(f"the process of {self._name} does not answer any more")
        death = child.death.result()
        return HostCrashed(
            f"the process of {self._name} died ({death.cause}); reset() begins a new session",
            exit_code=death.code,
            stderr=child.stderr.tail,
        )
