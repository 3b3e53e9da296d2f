"""What subclasses know of a client's connection that make it in their own way."""

from __future__ import annotations

from typing import Any

from openenv.client.conversation import Conversation
from openenv.client.drivers import AwaitingDriver, BlockingDriver
from openenv.client.endpoint import Endpoint


class Adoptive:
    """A client that takes a connection made elsewhere, under names that existing packages use."""

    _endpoint: Endpoint
    _conversation: Conversation
    _blocking: BlockingDriver
    _awaiting: AwaitingDriver

    @property
    def base_url(self) -> str | None:
        """The server's address."""
        return self._endpoint.base_url

    @property
    def _base_url(self) -> str | None:
        return self.base_url

    @property
    def _ws_url(self) -> str:
        return self._endpoint.ws_url

    @property
    def _connect_timeout(self) -> float:
        return self._endpoint.connect_timeout

    @property
    def _ws(self) -> Any:
        """The open connection, as subclasses that connect in their own way know it."""
        transport = self._blocking.transport or self._awaiting.transport
        return getattr(transport, "connection", transport)

    @_ws.setter
    def _ws(self, connection: Any) -> None:
        from openenv.client.transports.adopted import AdoptedSocket

        if connection is None:
            self._conversation.lose("the connection was given up")
            self._awaiting.transport = None
        else:
            adopted: Any = AdoptedSocket(self._endpoint, connection)  # all that v1 needs
            self._awaiting.transport = adopted
            self._conversation.adopt()
